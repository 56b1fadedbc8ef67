/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hits against the clock. Threads can hit while they are resumed, which is the time
 * that counts; what a hit costs is part of the time of processors that the process
 * takes, if no thread stops for it.
 */
#ifndef TRUEHIT_CONTROL_PACE_H
#define TRUEHIT_CONTROL_PACE_H

#include "gdbstub/control/run_state.h"

/** All changes of run->running: threads are resumed, or are no longer. */
void pace_set_running(struct run *run, bool running);
/** The time that threads have been resumed for, ns. */
uint64_t pace_ran(const struct run *run);

/** The counts of a location are zero now. */
void pace_begin(struct location *location);
/** Now. */
struct count_mark pace_mark(const struct location *location);
/** What has come between two marks. */
struct count_mark pace_between(const struct count_mark *from,
			       const struct count_mark *to);

#endif
