/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hits that nobody is told of, and that would come again if the thread just went on: at
 * traps of ours, and at debug registers where those let nobody pass
 * (arch_ops.debugreg_hits_repeat). The thread makes a step with what it has hit
 * switched off, while all others are halted (proceed.c).
 */
#ifndef TRUEHIT_HITS_STEP_OVER_H
#define TRUEHIT_HITS_STEP_OVER_H

#include "gdbstub/breakpoints/breakpoints.h"

/** A stopped thread has hit a location in vain. Nothing if that does not come again.
 * What it has hit before, where it still is, is not forgotten. */
void step_over_want(struct thread *thread, const struct location *location);
/** The same, of a watchpoint's hit that is decided after the access (look_after.h). */
void step_over_look(struct thread *thread, const struct location *location);
/** Is there anything left in the thread's way, that is still where it was wanted? */
bool step_over_is_needed(struct thread *thread);
/** Switches it off until the next commit. */
struct error *step_over_lift(struct thread *thread);

#endif
