/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes under our control and their threads, over ptrace.
 *
 * Every thread is attached by PTRACE_SEIZE, so that our stops
 * (PTRACE_INTERRUPT) cannot be confused with the program's own SIGSTOP or
 * SIGTRAP. New threads are followed by PTRACE_O_TRACECLONE and are stopped
 * before they run their first instruction.
 */
#ifndef TRUEHIT_INFERIOR_INFERIOR_H
#define TRUEHIT_INFERIOR_INFERIOR_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "arch/arch.h"
#include "gdbstub/base/error.h"
#include "gdbstub/base/patience.h"
#include "gdbstub/base/table.h"
#include "gdbstub/inferior/event.h"
#include "gdbstub/inferior/syscalls.h"

struct breakpoints;
struct client_memory;
struct native_shared; /* arch/native.h */
struct maps;
struct pads;
struct pending_stop;
struct threaddb;
struct run;
struct thread_control;
struct inferior_control;

/** What the client wants to hear of one thread (QThreadOptions). */
enum thread_option {
	THREAD_OPTION_CLONE = 1, /* that it makes a thread */
	THREAD_OPTION_EXIT = 2,	 /* that it ends */
	THREAD_OPTIONS = THREAD_OPTION_CLONE | THREAD_OPTION_EXIT,
};

/** What the kernel tells of a thread that sleeps in it (proc(5), /proc/PID/syscall). */
struct kernel_call {
	unsigned int count; /* how many words are known: 0, 2 or all */
	int number;	    /* of the system call; SYSCALL_NONE: it is in none */
	uint64_t word[SYSCALL_ARGUMENTS + 2]; /* arguments, if all are known; then
					       * stack pointer and PC */
};

/** The regset with the PC as it was read last since the thread stopped: all that is
 * left if somebody else kills it. */
struct last_regset {
	size_t size;   /* 0: not read */
	bool is_valid; /* it is what the thread has: nothing can have changed it since
			*/
	unsigned char data[512];
};

struct thread {
	TAILQ_ENTRY(thread) link;
	struct table_entry by_tid;
	struct inferior *inferior;
	pid_t tid;   /* changed by thread_renumber only */
	pid_t group; /* its process, as the kernel sees it: not the inferior's if it
		      * was made by clone(CLONE_VM) without CLONE_THREAD */

	/* Kept by inferior/. */
	bool running;	   /* resumed, and no stop seen since */
	bool interrupting; /* PTRACE_INTERRUPT sent, no stop reported since */
	bool late;	   /* ... and the thread sleeps where it cannot stop (late.h) */
	struct kernel_call call; /* ... when it became late */
	bool is_expected;	 /* in inferiors->expected, by: */
	TAILQ_ENTRY(thread) expected;
	bool stepping;	      /* resumed for one instruction: by PTRACE_SINGLESTEP, or
			       * through a system call by PTRACE_SYSCALL */
	int request;	      /* the one it was last resumed by */
	bool listening;	      /* resumed by PTRACE_LISTEN: in a group stop */
	bool at_signal;	      /* in a signal-delivery stop */
	int at_group_stop;    /* the signal of a group stop that its stop tells of; 0 */
	bool group_stopped;   /* job control has stopped its process, as it has told
			       * (group_stop.h); it may run all the same */
	bool step_ended;      /* its stop is the end of a single step */
	bool trap_due;	      /* a step that was nobody's has ended, and its SIGTRAP is
			       * still to come (gdbstub/pads/pad_stop.c) */
	bool ends_hit_step;   /* resumed by PTRACE_SINGLESTEP instead of the request
			       * (hit_step.h) */
	bool in_syscall;      /* stopped inside a call that it was not stepping */
	bool tells_end;	      /* it stops before it ends (thread_tell_end) */
	bool options_due;     /* ... but late, it is to be told that when it stops */
	bool bound;	      /* the kernel kills it when the server ends (leaving.h) */
	bool left_group_stop; /* it was to tell of one, and had a trap to take first,
			       * say: when it is resumed, it goes back */
	int syscall;	      /* the call that it is in, if its entry was seen;
			       * SYSCALL_NONE */
	bool call_cut_off;    /* ... which our interrupt cut off: it begins anew */
	struct last_regset *last_regset; /* NULL: none is kept */
	int injected_signal; /* sent by us, its delivery stop not yet seen; or 0 */
	uint64_t handle;     /* its pthread_t; 0: not known (threaddb.h) */

	uint64_t passed_at;  /* its PC stands for one in the pad that is made for that
			      * address (pads.h), after the trap there; 0: it does not */
	bool debugreg_stale; /* late: its debug registers are not what they should be */
	unsigned int options; /* enum thread_option; its end is told with them */
	int owed_signal;      /* the client gave it, but another stop came before the
			       * thread ran; 0: none */
	struct event pending; /* a signal of the program's, seen but not yet reported;
			       * EVENT_NONE: nothing */

	struct thread_control *control; /* of run control (gdbstub/control/control.h);
					 * NULL: this is not run */
};

TAILQ_HEAD(thread_list, thread);

struct inferior {
	TAILQ_ENTRY(inferior) link;
	pid_t pid;
	bool attached; /* attached to, rather than started by us */
	bool compat;   /* it runs a program of 32 bits (compat.h) */
	struct thread_list threads;
	const struct arch_ops *arch;
	struct breakpoints *breakpoints;  /* NULL until run control made them */
	struct inferior_control *control; /* of run control; NULL: this is not run */
	struct syscalls syscalls;	  /* to tell of */
	bool unattended;      /* the client has left it, it runs on for its commands */
	bool has_perf_events; /* it has or had: hit_step.h */
	unsigned int ntasks; /* threads that are none for the kernel (thread_leads), and
			      * the like: of other groups than pid */
	bool leaderless;     /* its leader ends before others, and run control knows */
	unsigned int lenders; /* threads with lends_memory: only they run until their
			       * vfork children are done with it */
	struct inferior *vfork_parent; /* whose memory this vfork child is in; NULL once
					* it is not */
	pid_t vfork_maker;	       /* ... and the thread that waits for it */
	pid_t lender_group; /* takes the terminal back at the end; 0: not lent */
	int mem_fd;	    /* /proc/PID/task/TID/mem; -1: not opened */
	pid_t mem_tid;	    /* the TID */
	struct maps *maps;  /* of maps.h; NULL: it is not kept */
	struct client_memory *client_memory; /* mapped for the client (client_memory.h)
					      */
	struct pads *pads; /* in its memory, of pads.h; NULL: there are none */
	struct native_shared *filter_shadow; /* where their filters look for planted
					      * bytes; NULL: there are none */
	struct threaddb *threaddb; /* of threaddb.c; NULL until used; forgotten by: */
	void (*forget_threaddb)(struct inferior *inferior);
	uint64_t warnings[4]; /* hashes of what inferior_warn has said last */
	unsigned int nwarnings;
	struct inferiors *owner;
};

TAILQ_HEAD(inferior_list, inferior);

/**
 * Run control's own of threads and inferiors (their member control): made before they
 * are known, and freed with them. False: out of memory.
 */
struct control_hooks {
	bool (*thread_made)(struct thread *thread);
	void (*thread_gone)(struct thread *thread);
	bool (*inferior_made)(struct inferior *inferior);
	void (*inferior_gone)(struct inferior *inferior);
};

/** All inferiors of a server. */
/** /proc/PID/task/TID/stat, which is read at each stop (proc.h). */
struct open_stat {
	pid_t tid; /* 0: none is open */
	int fd;
};

struct inferiors {
	struct inferior_list list;
	struct table by_tid;	     /* all threads */
	struct thread_list expected; /* to stop, as they were interrupted; some have */
	bool told_by_sigchld;	     /* SIGCHLD is blocked: nothing changes without */
	bool quiet;		     /* ... of which there was none a moment ago */
	bool changed;		     /* something has, since a wait found nothing */
	bool steps;		     /* somebody was resumed just now, by a step after a
				      * step */
	uint64_t maps_outdated;	     /* threads have run so often, about (maps.h) */
	struct early_stop *early_stops; /* stops of children not known yet (wait.c) */
	struct leaving *leaving;	/* let go, but not stopped yet (leaving.h) */
	/* Puts the thread of an event where it would be without pads. False: there is
	 * nothing to tell of yet, and the thread runs. NULL: there are no pads. */
	bool (*leave_pad)(struct event *event);
	/* Is a trap of ours there that faults (arch_ops.distinct_trap)? NULL: there are
	 * none. */
	bool (*has_distinct_trap)(struct inferior *inferior, uint64_t pc);
	struct open_stat stat;		   /* of the thread that was asked for last */
	char *threaddb_path;		   /* set by the user; NULL: the default */
	const struct control_hooks *hooks; /* of who controls them; NULL: nobody does */
	struct run *controller;		   /* ... who that is */
	int client; /* the descriptor of the client that work is done for, or
		     * PATIENCE_NOBODY (gdbstub/base/patience.h) */
};

/** Is the memory of these two the same (vfork)? */
bool inferior_shares_memory(const struct inferior *a, const struct inferior *b);
/** Of the inferiors whose memory is that of @inferior, itself among them: the one after
 * @last, or the first (NULL). NULL: there is none left. */
struct inferior *inferior_next_sharing(const struct inferior *inferior,
				       const struct inferior *last);

/** A loop over the threads of an inferior, none of which may go meanwhile. */
#define FOREACH_THREAD(thread, inferior)                                               \
	TAILQ_FOREACH (thread, &(inferior)->threads, link)
/** A loop over the inferiors whose memory is that of @inferior, itself among them. */
#define FOREACH_SHARING(other, inferior)                                               \
	for ((other) = inferior_next_sharing(inferior, NULL); (other);                 \
	     (other) = inferior_next_sharing(inferior, other))

/** Is the memory of this one lent to a vfork child, by whoever is in it? */
bool inferior_lends_memory(const struct inferior *inferior);

/** Work begins on what the inferior tells of itself. @limit: as patience_begin. */
void inferior_patience(const struct inferior *inferior, struct patience *patience,
		       int limit);
/** Says on stderr what is wrong with the inferior, once: each of the last warnings is
 * not repeated. */
void inferior_warn(struct inferior *inferior, const char *text);

/** What libthread_db knows of the inferior holds no longer: the program has ended, or
 * runs another one. */
void inferior_forget_threaddb(struct inferior *inferior);

struct inferior *inferior_find(struct inferiors *inferiors, pid_t pid);
/** Is it a process of its own for the kernel, rather than a thread of one? */
static inline bool thread_leads(const struct thread *thread)
{
	return thread->tid == thread->group;
}
/** Is it stopped, or late, which is as good (late.h)? It executes nothing then. */
static inline bool thread_is_held(const struct thread *thread)
{
	return !thread->running || thread->late;
}

#endif
