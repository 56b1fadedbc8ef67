/* SPDX-License-Identifier: BSD-2-Clause */
/* Waiting for threads, and wait statuses on their way to becoming events. */
#ifndef TRUEHIT_INFERIOR_WAIT_H
#define TRUEHIT_INFERIOR_WAIT_H

#include <sys/ptrace.h>

#include "inferior/inferior.h"

/**
 * The next event of any traced thread. @block: wait for one; false: return
 * EVENT_NONE if there is none. Handles by itself: threads that start (added to
 * the list), group-stop bookkeeping, a leader that exits before other threads.
 * A blocking call returns EVENT_NONE only if no traced thread is left to wait for.
 * After EVENT_EXITED or EVENT_KILLED the inferior is still in the list; the
 * caller destroys it.
 */
void inferiors_wait(struct inferiors *inferiors, bool block, struct event *event);
/**
 * A wait asks about all traced threads, which takes long if they are many. Whoever has
 * SIGCHLD blocked spares the waits that would find nothing (told_by_sigchld); and
 * whoever takes a SIGCHLD from the queue has to tell by this.
 */
void inferiors_changed(struct inferiors *inferiors);

/**
 * Has a stopped thread stop once more when it ends, its memory still there
 * (PTRACE_O_TRACEEXIT). Of a leader whom others outlive EVENT_LEADER_ENDS tells; all
 * others are passed over. -ESRCH: it is ending.
 */
int thread_tell_end(struct thread *thread);

/**
 * Is this thread a zombie leader: ended while other threads live on? It will
 * not report again until the process ends, so nobody may wait for it.
 */
bool thread_is_zombie(const struct thread *thread);
/**
 * Has this leader ended by itself, and do other threads of its process live on? When
 * the whole process ends, or one of its threads calls exec, the leader can be a zombie
 * before the kernel has told of the ends of the others; that is no end of its own.
 */
bool thread_is_outlived(const struct thread *leader);

/* ---- for the files of inferior/ ---- */

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
