/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scope guards: a resource declared with one of these is released when its
 * scope ends. take_ptr() and take_fd() hand the resource on instead.
 */
#ifndef TRUEHIT_BASE_CLEANUP_H
#define TRUEHIT_BASE_CLEANUP_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(fn) __attribute__((__cleanup__(fn)))

static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_fclose(FILE **file)
{
	if (*file)
		fclose(*file);
}

static inline void cleanup_closedir(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

#define _cleanup_free_	   _cleanup_(cleanup_free)
#define _cleanup_close_	   _cleanup_(cleanup_close)
#define _cleanup_fclose_   _cleanup_(cleanup_fclose)
#define _cleanup_closedir_ _cleanup_(cleanup_closedir)

/** Returns the pointer and forgets it, so that its guard frees nothing. */
#define take_ptr(ptr)                                                                  \
	({                                                                             \
		__auto_type taken_ = (ptr);                                            \
		(ptr) = NULL;                                                          \
		taken_;                                                                \
	})

/** Returns the descriptor and forgets it, so that its guard closes nothing. */
static inline int take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

#endif
