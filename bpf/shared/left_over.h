/* SPDX-License-Identifier: BSD-2-Clause */
/* What of a location's hits a program in the kernel leaves to the stub, and why, for
 * people. */
#ifndef TRUEHIT_BPF_SHARED_LEFT_OVER_H
#define TRUEHIT_BPF_SHARED_LEFT_OVER_H

#include <stddef.h>

#include "gdbstub/base/cleanup.h"

enum left_kind {
	LEFT_HITS,	   /* those at which this is so */
	LEFT_COMMANDS,	   /* the commands of such hits */
	LEFT_ALL_COMMANDS, /* those of all hits, as this is so of one */
	LEFT_ALL_HITS,
	LEFT_KINDS,
};

struct left_reason {
	enum left_kind kind;
	char *text;	    /* owned */
	const char *advice; /* what can be done about it, lines of six blanks after the
			     * first; or NULL */
};

/** Zeros: nothing is left. */
struct left_over {
	struct left_reason *rows; /* owned */
	size_t count;
};

/** Without memory the reason is missing. */
void left_over_add(struct left_over *left, enum left_kind kind, const char *advice,
		   const char *format, ...) __attribute__((format(printf, 4, 5)));
void left_over_clear(struct left_over *left);

#define _cleanup_left_over_ _cleanup_(left_over_clear)

#endif
