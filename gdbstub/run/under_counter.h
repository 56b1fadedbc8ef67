/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the processor counts what a thread's steps are to count (retired.h), and does
 * so exactly (counter_trial.h), the thread runs instead, until the counter interrupts
 * it: so long before the end that it cannot come too late. The rest is stepped.
 *
 * It is read at each stop, whatever that is for, and begins anew at each resume. So
 * breakpoints, signals and interrupts are to the thread as they are to any other.
 */
#ifndef TRUEHIT_RUN_UNDER_COUNTER_H
#define TRUEHIT_RUN_UNDER_COUNTER_H

#include "gdbstub/run/run.h"

/** The thread is about to make a step that is to count: true if it is to run instead,
 * and is counted from now on. */
bool under_counter_begin(const struct run *run, struct thread *thread);
/** An event has come: what the thread has executed is counted. True: it is not to go
 * on. */
bool under_counter_end(const struct run *run, const struct event *event);
/** The same of a thread that is late, and so has told nothing yet (late.h). */
void under_counter_end_late(const struct run *run, const struct thread *thread);
/** Interrupts threads whose counter counts no longer, and so does not interrupt them;
 * looks at them now and then. */
void under_counter_look(struct run *run);
/** ms, until it is to be called again; -1: it need not be. */
int under_counter_patience(const struct run *run);
/** Is the event the signal of a counter of the thread's? It comes once. */
bool under_counter_takes(const struct event *event);

#endif
