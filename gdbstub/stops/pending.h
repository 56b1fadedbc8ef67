/* SPDX-License-Identifier: BSD-2-Clause */
/* Stops that were seen and wait to be reported, one per thread and process.
 * The end of a thread, which is no more, is kept in run->thread_ends. */
#ifndef TRUEHIT_STOPS_PENDING_H
#define TRUEHIT_STOPS_PENDING_H

#include "gdbstub/control/run_state.h"

/** Notes a stop of a thread; one that it has already is kept instead. */
void pending_set(struct run *run, struct thread *thread, struct stop stop);
/** Notes the end of a client's step. */
void pending_set_step_ended(struct run *run, struct thread *thread);
/** Notes a signal of the program's, which stays deliverable (thread->pending). */
void pending_set_signal(struct run *run, const struct event *event);
/** Notes the end of a process. */
void pending_set_end(struct run *run, const struct event *event);
/** Notes the end of a thread whose process lives on. */
void pending_set_thread_end(struct run *run, const struct inferior *inferior, pid_t tid,
			    int status);
/** Forgets one of these. */
void pending_drop_thread_end(struct run *run, struct pending_stop *pending);
/** Forgets the ends of a process's threads (0: of all of them). */
void pending_forget_thread_ends(struct run *run, pid_t pid);
/** Forgets a thread's stop. */
void pending_clear(struct thread *thread);

/** Is this a signal that the client does not want to hear of? */
bool pending_may_pass(const struct run *run, const struct event *event);
/** Turns a pending stop that tells of such a signal into its delivery. */
void pending_pass_signal(const struct run *run, struct thread *thread);

/** Turns a pending stop that nobody is to hear of into what it means for the thread
 * when that is resumed: a signal into its delivery. */
void pending_pass(struct thread *thread);

#endif
