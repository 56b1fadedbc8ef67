/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads: the list of an inferior's, and who has which tid. */
#ifndef TRUEHIT_INFERIOR_THREAD_H
#define TRUEHIT_INFERIOR_THREAD_H

#include <sys/types.h>

#include "gdbstub/inferior/inferior.h"

/** The thread with this tid in any inferior, or NULL. */
struct thread *thread_find(struct inferiors *inferiors, pid_t tid);
/** The thread with this tid in @inferior, or NULL. */
struct thread *inferior_thread(struct inferior *inferior, pid_t tid);
/** Adds a thread (stopped) of the inferior's process. NULL: out of memory. */
struct thread *thread_create(struct inferior *inferior, pid_t tid);
void thread_destroy(struct thread *thread);
/** It is of that thread group. */
void thread_set_group(struct thread *thread, pid_t group);
/** Exec gives a thread its leader's tid. */
void thread_renumber(struct thread *thread, pid_t tid);

/** The thread, which was interrupted, is among those that the next wait asks for first.
 */
void thread_expect(struct thread *thread);

#endif
