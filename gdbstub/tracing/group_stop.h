/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Group stops: what job control (SIGSTOP, a shell's `kill -STOP`) does to a process.
 *
 * The kernel tells every thread's group stop by a PTRACE_EVENT_STOP. A thread that is
 * resumed from there runs on, as with any debugger, while the process remains stopped
 * for the kernel: until a SIGCONT comes, the answers to PTRACE_INTERRUPT look like
 * group stops, too (kernel/signal.c, do_jobctl_trap), and a thread that is let go
 * stops. Another stop signal begins a new group stop. As each one is delivered by us,
 * we know.
 */
#ifndef TRUEHIT_TRACING_GROUP_STOP_H
#define TRUEHIT_TRACING_GROUP_STOP_H

#include "gdbstub/inferior/inferior.h"

/**
 * Takes a PTRACE_EVENT_STOP of @signal. True: it tells of a group stop that this thread
 * was not known to be in; it is from now on.
 */
bool group_stop_begins(struct thread *thread, int signal);
/** The stops by which the other threads of its process tell of the same group stop
 * tell nothing new. */
void group_stop_tell_for_all(struct thread *thread);
/** Nobody was told of the group stop that the thread is in: it tells of it again. */
void group_stop_forget(struct thread *thread);
/** When the thread is resumed, it goes back to its group stop, and tells of it again.
 */
void group_stop_return(struct thread *thread);
/** The thread gets this signal (host number) now, which may begin a group stop. */
void group_stop_expect(struct thread *thread, int signal);

#endif
