/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which bytes of an inferior are not what its memory shows, as traps are planted there.
 * Told by a few numbers, so that programs in the kernel can look for themselves; traps
 * in a program and in its libraries are far apart, and its data lie between them.
 */
#ifndef TRUEHIT_BPF_SHARED_SHADOW_H
#define TRUEHIT_BPF_SHARED_SHADOW_H

#include <stddef.h>
#include <stdint.h>

enum { SHADOW_GAPS = 3 };

/** The bytes from start on, before end. Empty if they are equal. */
struct shadow_range {
	uint64_t start, end;
};

struct shadow {
	struct shadow_range all;	       /* no trap is outside */
	struct shadow_range gaps[SHADOW_GAPS]; /* nor in these; or empty */
};

/** With these bytes as well, which may be in it already. It may be wider than need be:
 * of gaps that it has dropped nothing is known. */
void shadow_add(struct shadow *shadow, struct shadow_range trap);
/** Around these @count ranges of planted bytes, which are put in order. */
struct shadow shadow_around(struct shadow_range *traps, size_t count);

#endif
