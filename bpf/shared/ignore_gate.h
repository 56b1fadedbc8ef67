/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a true hit passes before it does anything: the next so many may be ignored, and
 * all those after the one that follows them.
 * One word decides, taken by atomic decrements, so that of the hits of many threads
 * exactly so many are ignored, whether programs in the kernel take it or the stub.
 */
#ifndef TRUEHIT_BPF_SHARED_IGNORE_GATE_H
#define TRUEHIT_BPF_SHARED_IGNORE_GATE_H

#include <stdbool.h>
#include <stdint.h>

struct gate {
	int64_t left;	  /* how many of the next hits to ignore; 0 or less: none */
	uint64_t ignored; /* how many were */
	uint64_t single;  /* not 0: one passes, and then none does */
};

/** So many at a time; GATE_ENDLESS ignores all. */
enum { GATE_MAX = INT32_MAX };
#define GATE_ENDLESS INT64_MAX

/** The next @count true hits are ignored, instead of what was set before. */
void gate_set(struct gate *gate, int64_t count);
/** The same, but only one hit passes after them. */
void gate_set_single(struct gate *gate, int64_t count);
/** What was set for the one, and how far that is, for the other. */
void gate_copy(struct gate *to, const struct gate *from);
/** What is left of it: 0 to GATE_MAX, or GATE_ENDLESS. */
int64_t gate_left(const struct gate *gate);
/** Has the only one passed that is to? */
bool gate_is_spent(const struct gate *gate);
/** A true hit comes: is it ignored? */
bool gate_ignores(struct gate *gate);
/** Forgets how many were ignored. */
void gate_reset(struct gate *gate);

#endif
