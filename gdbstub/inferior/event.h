/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel tells a tracer about its threads, decoded from wait statuses. */
#ifndef TRUEHIT_INFERIOR_EVENT_H
#define TRUEHIT_INFERIOR_EVENT_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct thread;
struct inferior;

enum event_kind {
	EVENT_NONE,
	EVENT_SIGNAL,	   /* signal-delivery stop: .signal, .siginfo. Includes every
			    * SIGTRAP (step, int3, perf event, debug register) */
	EVENT_INTERRUPTED, /* the stop that PTRACE_INTERRUPT asked for */
	EVENT_UNASKED,	   /* SIGCONT has come for the process, whether stopped or not:
			    * every thread stops, before its next instruction. Or an
			    * interrupt was answered before. The thread is to be resumed
			    * as it was (thread_resume_again) */
	EVENT_GROUP_STOP,  /* job control has stopped the process: .signal. Each thread
			    * tells it once. Also the answer to an interrupt */
	EVENT_CLONE,	   /* .thread made .child: a thread of the same inferior,
			    * in the list, stopped, never run yet. (If the kernel
			    * tells of the child first, the child waits unseen; no
			    * event tells of a child that was killed at once.) So is a
			    * task that shares its memory, however it was made, but by
			    * vfork */
	EVENT_FORK,	   /* .thread made the process .child_pid: stopped, traced */
	EVENT_VFORK,	   /* the same; .thread waits until it has ended or runs another
			    * program. It shares the memory, unless .own_memory */
	EVENT_VFORK_DONE,  /* the vfork child has exec'ed or ended */
	EVENT_EXEC,	   /* .thread (now the leader) runs a new program; all other
			    * threads are gone from the list */
	EVENT_SYSCALL,	   /* at the entry (.entry) of a system call, or the return from
			    * one: .syscall */
	EVENT_LEADER_ENDS, /* .thread, the leader, is about to end by itself, while
			    * others live on, and is stopped (thread_tell_end) */
	EVENT_THREAD_EXIT, /* a thread ended and is gone from the list; others live.
			    * .tid tells; .thread is NULL; .status is its exit
			    * status, .options are the thread's */
	EVENT_EXITED,	   /* the whole process exited: .status (0..255) */
	EVENT_KILLED,	   /* the whole process died of .signal */
};

struct event {
	enum event_kind kind;
	struct inferior *inferior;
	struct thread *thread; /* NULL once it is gone */
	pid_t tid;
	int signal;	      /* host number */
	int status;	      /* exit status */
	unsigned int options; /* EVENT_THREAD_EXIT */
	int syscall;	      /* EVENT_SYSCALL: the call's number. EVENT_SIGNAL: of the
			       * call that returns because of the signal, after an
			       * interrupt of ours seemed to have cut it off. Else, and
			       * if not known: SYSCALL_NONE */
	bool entry;	      /* EVENT_SYSCALL */
	siginfo_t siginfo;    /* EVENT_SIGNAL */
	bool given;	      /* ... which thread_send_signal() has sent */
	struct thread *child; /* EVENT_CLONE */
	pid_t child_pid;      /* EVENT_FORK, EVENT_VFORK */
	bool own_memory;      /* ... which has a copy of the memory, traps included */
	bool child_late;      /* ... which has not stopped yet (late.h) */
};

/** The name of a kind, for debugging output. */
const char *event_kind_name(enum event_kind kind);

/** Does the event tell of a breakpoint instruction that the thread has executed? */
bool trap_is_reported(const struct event *event);

#endif
