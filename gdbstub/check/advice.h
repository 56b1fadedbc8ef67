/* SPDX-License-Identifier: BSD-2-Clause */
/* What makes the faster ways available on this machine, to this user. */
#ifndef TRUEHIT_CHECK_ADVICE_H
#define TRUEHIT_CHECK_ADVICE_H

#include "gdbstub/check/findings.h"

struct advice {
	const char *name;  /* for scripts: never to be changed */
	const char *line;  /* to be typed, as it is */
	const char *where; /* ... where, and by whom */
	const char *gain;  /* what comes of it */
};

/** The @index-th piece of advice that this machine and this user need, in the order in
 * which they are to be followed. @line has .line. False: there are not so many. */
bool advice_find(const struct findings *findings, unsigned int index,
		 struct buffer *line, struct advice *ret);

#endif
