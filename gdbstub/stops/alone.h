/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who runs by itself, and why. A thread that steps over a trap does, as the trap is
 * away meanwhile: nobody else may run past the place. So do, in their process, those
 * whose vfork children are in its memory, which must hold no traps then (fork.c). In a
 * crowd, a thread that the client steps does for a while (gdbstub/stops/ahead.h).
 */
#ifndef TRUEHIT_STOPS_ALONE_H
#define TRUEHIT_STOPS_ALONE_H

#include "gdbstub/control/run_state.h"

/** May this thread run, as far as those are concerned? */
bool alone_lets_run(const struct run *run, const struct thread *thread);

/** From now on the thread steps over what is at its PC; all others are halted. */
void alone_begin_step(struct run *run, const struct thread *thread);
/** Is it this thread that steps over something? */
bool alone_is_stepping(const struct run *run, const struct thread *thread);
/** The thread of @inferior that stepped over traps has left the place, or is gone: the
 * traps are to go back. */
void alone_end_step(struct run *run, struct inferior *inferior);
/** The same, but there is nothing to put back, or that is done anyway. */
void alone_forget_step(struct run *run);

/** The thread's vfork child is in the memory. */
void alone_begin_lending(struct thread *thread);
/** The child has left it. The last one's traps are to go back. */
void alone_end_lending(struct run *run, struct thread *thread);
/** The thread that waits for a child in the memory was killed, and so its process is
 * about to end: nobody will tell when the child is done. */
void alone_lend_for_good(struct inferior *inferior);
/** A thread of the inferior has gone from the list, maybe one that lent. */
void alone_count_lenders(struct run *run, struct inferior *inferior);
/** The memory is no longer what it was. */
void alone_forget_lenders(struct inferior *inferior);

/** Traps that were away go back into the memory of @inferior at the next
 * alone_put_back(). */
void alone_want_back(struct run *run, struct inferior *inferior);
/** Puts them back. All threads are held that may come across them. */
void alone_put_back(struct run *run);

#endif
