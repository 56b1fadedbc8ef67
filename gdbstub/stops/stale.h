/* SPDX-License-Identifier: BSD-2-Clause */
/* Pending stops that have become moot. */
#ifndef TRUEHIT_STOPS_STALE_H
#define TRUEHIT_STOPS_STALE_H

#include "gdbstub/control/run_state.h"

/**
 * Forgets a thread's stop if the client, who is resuming the thread, has made it
 * moot: the breakpoint is gone, the PC was changed, the step is no longer wanted.
 */
void stale_drop(struct run *run, struct thread *thread);

#endif
