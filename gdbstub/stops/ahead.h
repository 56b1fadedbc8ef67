/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A step in a crowd. The client has one thread step, and all others continue; most
 * steps end at once. Then the others need not have run at all: nobody can tell, as a
 * scheduler might have done the same. So the thread goes ahead of them, which saves
 * resuming and halting each of them for each step. If the step lasts (a call that
 * blocks, a loop that waits for another thread), they follow.
 *
 * Nobody is starved: what others have waited while a client steps is added up, and when
 * it is too much, they run first, and the thread that steps follows.
 */
#ifndef TRUEHIT_STOPS_AHEAD_H
#define TRUEHIT_STOPS_AHEAD_H

#include "gdbstub/control/run_state.h"

/** The client's actions are known, and nobody has been resumed by them yet: who waits?
 * In all-stop mode. */
void ahead_begin(struct run *run);
/** May those that wait be resumed now? Then nobody waits any more. */
bool ahead_look(struct run *run);
/** How long ahead_look need not be called, in ms; -1: for ever. */
int ahead_patience(const struct run *run);
/** Nobody waits any more; nobody is resumed. */
void ahead_forget(struct run *run);

#endif
