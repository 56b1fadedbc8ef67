/* SPDX-License-Identifier: BSD-2-Clause */
/* Letting threads run, and asking them to stop. */
#ifndef TRUEHIT_TRACING_RESUME_H
#define TRUEHIT_TRACING_RESUME_H

#include <signal.h>

#include "gdbstub/inferior/inferior.h"

/**
 * 0 or a negative errno; -ESRCH: it is gone or being killed (it counts as running,
 * and its end will be reported by a wait). The thread must be stopped. @signal may
 * be given at any kind of stop; its delivery is not reported again.
 */
int thread_continue(struct thread *thread, int signal);
/** The same, and a hit of a perf event that the kernel is taking it past comes again
 * (hit_step.h). */
int thread_continue_anew(struct thread *thread, int signal);
/**
 * One instruction: its end is a SIGTRAP. From within a system call, or if the process's
 * calls are to be told, EVENT_SYSCALL may come first: a return with thread->stepping is
 * the end of the step; after other ones the thread is to be stepped again.
 */
int thread_step(struct thread *thread, int signal);
/** As it was last resumed, and as thread_continue. */
int thread_resume_again(struct thread *thread, int signal);
/** Leaves it in its group stop but lets SIGCONT wake it (PTRACE_LISTEN). */
int thread_listen(struct thread *thread);
/** Asks a running thread to stop. Its next event, of whatever kind, is the answer:
 * what the thread has already run into (a trap, a signal it caused) comes first. */
int thread_interrupt(struct thread *thread);
/** Sends it a signal; its delivery is no event. For the client's signals that come
 * at a stop where none can be injected. */
void thread_send_signal(struct thread *thread, int signal);

#endif
