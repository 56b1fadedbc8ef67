/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Giving the processor away for a moment. What comes within microseconds, as the end of
 * a step, is there by then if it is done by the same processor, and nobody has to sleep
 * until a signal wakes him. But a process that computes all the time would keep the
 * processor for milliseconds, which a sleeper does not wait for: where that has
 * happened, it is not given away for a while.
 */
#ifndef TRUEHIT_CONTROL_TURN_H
#define TRUEHIT_CONTROL_TURN_H

#include <stdbool.h>
#include <stdint.h>

/** Zeroed at first. */
struct turn {
	int64_t not_before; /* ns of CLOCK_MONOTONIC */
};

/** Gives the processor away once. False: it does not, as that took too long lately. */
bool turn_give(struct turn *turn);

#endif
