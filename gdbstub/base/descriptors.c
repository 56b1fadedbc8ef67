/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/base/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/eventfd.h>

#include "gdbstub/base/log.h"

enum {
	RESERVE = 128, /* the client alone may have 64 files open
			  (gdbstub/packets/vfile.c) */
	RESERVE_SHARE = 4,
	TABLE = 4096, /* descriptors that the kernel has a table for at once */
};

static rlim_t current_limit(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) < 0 ? RLIM_INFINITY : limit.rlim_cur;
}

/* The table doubles when it is full. If threads share it, each time takes a grace
 * period of RCU (expand_fdtable in fs/file.c), 10 to 20 ms; now there is one thread
 * only. */
static void grow_table(rlim_t limit)
{
	const rlim_t size = limit < TABLE ? limit : TABLE;
	int first _cleanup_close_ = eventfd(0, EFD_CLOEXEC);
	int last _cleanup_close_ =
		first >= 0 && size > 0 ? fcntl(first, F_DUPFD_CLOEXEC, (int)size - 1)
				       : -1;

	if (last < 0)
		log_debug(LOG_SERVER, "no table for %ju descriptors", (uintmax_t)size);
}

void descriptors_raise(struct rlimit *former)
{
	struct rlimit raised;

	*former = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY};
	if (getrlimit(RLIMIT_NOFILE, former) < 0)
		return;
	raised = (struct rlimit){former->rlim_max, former->rlim_max};
	if (setrlimit(RLIMIT_NOFILE, &raised) < 0)
		log_debug(LOG_SERVER, "the limit of descriptors stays %ju",
			  (uintmax_t)former->rlim_cur);
	grow_table(current_limit());
}

rlim_t descriptors_reserve(rlim_t limit)
{
	return limit / RESERVE_SHARE < RESERVE ? limit / RESERVE_SHARE : RESERVE;
}

/* The kernel gives out the lowest free number: all below it are in use. If standard
 * input is closed, that is free. */
bool descriptors_are_short(void)
{
	rlim_t limit = current_limit();
	int fd _cleanup_close_ = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return errno == EMFILE;
	return (rlim_t)fd >= limit - descriptors_reserve(limit);
}

struct error *descriptors_error(const char *what)
{
	rlim_t limit = current_limit(), reserve = descriptors_reserve(limit);

	return error_create(
		EMFILE,
		"%s: %ju of %ju descriptors are in use, the others are kept "
		"for the server's own needs (raise ulimit -n)",
		what, (uintmax_t)(limit - reserve), (uintmax_t)limit);
}
