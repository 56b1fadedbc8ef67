/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Run control: resumes threads as the client asked, takes the kernel's events,
 * throws false hits away, and says when there is a stop to report.
 *
 * All-stop mode: a reported stop means that every thread of every inferior is
 * stopped. Non-stop mode: it is for the one thread (or process) that it names, and
 * the others run on.
 *
 * A thread is resumed if its action is not RESUME_NONE: the client thinks that it
 * runs. It may be stopped all the same for a while: halted for another thread's
 * step over a trap, or with a stop that waits to be reported.
 *
 * Handlers of events note, one loop acts. A handler changes what is known: it sets a
 * pending stop, notes that a thread may go on, or what has to be done while all are
 * held. Only the loop, and what a client asks for, halts and resumes threads; handlers
 * run inside a halt, too, and so must not begin one.
 *
 *   run          what the client asks for and is told; the loop
 *   proceed      what the loop does after an event: letting threads run, stepping over
 *                traps
 *   resuming     one thread
 *   retired      what its steps count
 *   under_counter  ... and the processor, while it runs instead
 *   halt         stopping every thread, and what is done while all are held
 *   events       what the kernel tells, one handler an event
 *   fork         ... of processes that come from others
 *   pending      noted: stops
 *   ready        ... who may go on
 *   alone        ... who runs alone, and why
 *   next_stop    which of the stops is told next
 *   stale        stops that have become moot
 *   client_view  what the client knows of threads
 *   lifetimes    how inferiors come and go
 *   leave        ... go
 *   nonstop      into non-stop mode and out of it
 *   interrupt    Ctrl-C: which thread answers
 *   unattended   those that run with nobody to tell
 */
#ifndef TRUEHIT_RUN_RUN_H
#define TRUEHIT_RUN_RUN_H

#include "gdbstub/control/run_state.h"

/**
 * Says what run_resume shall do with a thread. In non-stop mode RESUME_NONE and
 * threads that are resumed already are left as they are, and RESUME_STOP asks at once
 * for a stop with signal 0.
 */
void run_set_action(struct run *run, struct thread *thread,
		    struct resume_action action);
/**
 * Resumes every thread whose action is not RESUME_NONE, after committing the
 * breakpoints. A stop that was seen earlier but not yet reported may come at
 * once by run_poll instead.
 */
struct error *run_resume(struct run *run);
/** Between these two nothing runs, so that breakpoints can be changed; nobody is told.
 * run_unpause returns @error, which is that of the change, or else one of committing.
 */
void run_pause(struct run *run);
struct error *run_unpause(struct run *run, struct error *error);
/**
 * Takes what the kernel has to tell (never blocks). True: *stop is to be reported,
 * and everything is stopped. Non-stop mode: only that thread is; no other stop is
 * reported before client_view_acknowledge.
 */
bool run_poll(struct run *run, struct stop *stop);
/** How long run_poll need not be called if nothing happens, in ms; -1: for ever. */
int run_patience(const struct run *run);
/**
 * Prints what commands have printed without a stop, for as long as the output is ready.
 * True: there was some, and more may follow soon.
 */
bool run_print(struct run *run);
/** A descriptor that is readable while there is something to print, or -1. */
int run_print_fd(struct run *run);
/**
 * Forgets what a client that is gone wanted to hear of, and stops that only it knows
 * the meaning of. Nothing runs.
 */
void run_forget_wishes(struct run *run);
/** Stops every thread without reporting (the client went away). */
void run_halt(struct run *run);

#endif
