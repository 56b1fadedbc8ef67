/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Instructions that a thread executes step by step, counted as processors count what
 * they have retired ("monitor until-count"): exactly, and without a counter. Where
 * there is one, most of them need no step: under_counter.h.
 *
 * What is counted is decided by the instruction, before its step, and by where it has
 * led to. A string instruction is one however often it repeats, and what a signal has
 * kept from being executed is none.
 */
#ifndef TRUEHIT_RUN_RETIRED_H
#define TRUEHIT_RUN_RETIRED_H

#include <stdbool.h>
#include <stdint.h>

#include "gdbstub/inferior/inferior.h"
#include "gdbstub/run/run.h"

/** From now on the steps of the thread count so many events; a step of the client's
 * ends when they are reached, or after @limit steps, if that is not 0. @count 0: no
 * longer. */
void retired_begin(struct thread *thread, enum retired_event event, uint64_t count,
		   uint64_t limit);
/** Is there something left to be counted? */
bool retired_is_on(const struct thread *thread);

/** The thread is about to be stepped. */
void retired_note_step(struct thread *thread);
/** It has stopped within a system call, whose instruction it has executed, or,
 * @returns, where that is over. */
void retired_note_call(struct thread *thread, bool returns);
/** It runs, or is stepped through a range: what that executes is not counted. */
void retired_note_run(struct thread *thread);
/** Its step has ended before the instruction. */
void retired_note_cut_off(struct thread *thread);
/** Its step has ended: is another one to follow? */
bool retired_steps_on(const struct run *run, struct thread *thread);
/** Every two seconds the user is told how far it is. */
void retired_look_at_clock(const struct run *run, const struct thread *thread);

#endif
