/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The inside of run control, shared by its files:
 *
 *   run.c      what the client asks for and is told
 *   proceed.c  letting threads run, stepping over traps
 *   halt.c     stopping every thread
 *   events.c   what the kernel tells, one handler an event
 *   fork.c     ... of processes that come from others
 *   life.c     how inferiors come and go
 *   nonstop.c  non-stop mode: which stops the client knows of
 *   interrupt.c  Ctrl-C: which thread answers
 *   unattended.c  those that run with nobody to tell
 *
 * A thread is resumed if its action is not RESUME_NONE: the client thinks that it
 * runs. It may be stopped all the same for a while: halted for another thread's
 * step over a trap, or with a stop that waits to be reported.
 */
#ifndef TRUEHIT_STOPS_CONTROL_H
#define TRUEHIT_STOPS_CONTROL_H

#include "stops/run.h"

/* ---- halt.c ---- */

/** Stops every thread, or makes it late (inferior/late.h): within a second or so. What
 * they have to tell becomes pending. The threads stay resumed: proceed_all() lets them
 * go on. Locations that must move (run->locations_move) have moved. */
void halt_all(struct run *run);
/** The same for a step over a location, which stays until proceed_together(): locations
 * that must move do so only then. */
void halt_for_step(struct run *run);
/** Is there a running thread that will still tell something? */
bool halt_needed(const struct run *run);

/* ---- proceed.c ---- */

/** Lets every resumed thread run that may. */
void proceed_all(struct run *run);
/**
 * Lets one thread go on after an event that nobody needs to hear of. It may be gone
 * afterwards: others are halted before a trap is stepped over.
 */
void proceed_thread(struct run *run, struct thread *thread);
/** Leaves a thread in its group stop, where only SIGCONT wakes it. */
void proceed_listening(struct thread *thread);
/** Lets a thread run although its process has to wait for it (vfork). */
void proceed_alone(struct run *run, struct thread *thread);
/** The thread that stepped over traps has left the place, or is gone: they go back. */
void proceed_together(struct run *run, struct inferior *inferior);
/** Traps that were away for a while go back into the inferior's memory. */
void proceed_with_traps(struct run *run, struct inferior *inferior);

/* ---- interrupt.c ---- */

/** Asks a running thread to stop, unless one that can answer was asked already. */
void interrupt_ask(struct run *run);
/** A request waits to be answered: sees to it that it is, before long. */
void interrupt_go_on(struct run *run);
/** Lets a resumed thread that is held answer, if there is one. */
void interrupt_answer_at_once(struct run *run);
/** May this thread, which has stopped for no other reason, answer a request? */
bool interrupt_is_for(const struct run *run, const struct thread *thread);

/* ---- nonstop.c ---- */

/** Does the client know of this thread's last stop, or that it runs? What it asks of
 * one that it knows wrongly is ignored. */
bool nonstop_is_known(const struct run *run, const struct thread *thread);
/** A stop of one of its threads was reported: does the client still wait for others?
 * If not, it does not expect to hear of the process's end. */
void nonstop_reported(struct inferior *inferior);
/** Is any thread resumed that has not ended? */
bool nonstop_any_resumed(const struct run *run);

/* ---- life.c ---- */

/** Lets go of a stopped inferior: as run_detach, but nobody else is stopped. */
void life_leave(struct run *run, struct inferior *inferior, pid_t signal_tid,
		int signal);

#endif
