/* SPDX-License-Identifier: BSD-2-Clause */
/* Wait statuses on their way to becoming events; for the files of inferior/. */
#ifndef TRUEHIT_INFERIOR_WAIT_H
#define TRUEHIT_INFERIOR_WAIT_H

#include <sys/ptrace.h>

#include "inferior/inferior.h"

/** Options of every traced thread. Started programs also get EXITKILL. */
enum {
	TRACE_OPTIONS = PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
			PTRACE_O_TRACEVFORKDONE | PTRACE_O_TRACEEXEC |
			PTRACE_O_TRACESYSGOOD,
};

/** A wait status that was taken from the kernel before anyone could use it. */
struct early_stop {
	struct early_stop *next;
	pid_t tid;
	pid_t creator; /* the process whose thread made @tid, if known, or 0 */
	int status;
};

/** waitpid for one thread that is about to stop or to end. 0 or a negative errno:
 * ECHILD: there is no such traced thread; ETIMEDOUT: it does neither (late.h). */
int wait_status(pid_t tid, int *status);
/** The thread, which was interrupted, is among those that the next wait asks for first.
 */
void wait_expect(struct thread *thread);
/** Keeps a status for a later wait. */
void wait_keep(struct inferiors *inferiors, pid_t tid, int status);
/**
 * Turns a status into an event. False: there is nothing to report, because the
 * status was kept for later or the thread was resumed.
 */
bool wait_decode(struct inferiors *inferiors, pid_t tid, int status,
		 struct event *event);
/** Does a signal wait that this stopped thread, and no other, gets before it executes
 * another instruction? */
bool wait_signal_comes(const struct thread *thread);
/**
 * Takes signals of ours that this stopped thread has not got yet, as nobody will expect
 * them any longer: a SIGSTOP that a BPF program has sent, a SIGTRAP that the kernel has
 * raised. Others stay pending.
 */
void wait_take_own(struct thread *thread);
/**
 * Lets a thread that is stopped inside a system call run to the end of that call.
 * False: it was killed meanwhile; its end is kept for the next wait. The thread may be
 * late afterwards.
 */
bool wait_syscall_end(struct thread *thread);
/**
 * Forgets what was kept about an inferior that is gone or let go. Processes that
 * it forked and whose EVENT_FORK never came are let go.
 */
void wait_forget(struct inferior *inferior);

#endif
