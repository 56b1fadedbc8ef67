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
 *   halt         stopping every thread, and what is done while all are held
 *   events       what the kernel tells, one handler an event
 *   fork         ... of processes that come from others
 *   pending      noted: stops
 *   ready        ... who may go on
 *   alone        ... who runs alone, and why
 *   next_stop    which of the stops is told next
 *   stale        stops that have become moot
 *   client_view  what the client knows of threads
 *   life         how inferiors come and go
 *   leave        ... go
 *   nonstop      into non-stop mode and out of it
 *   interrupt    Ctrl-C: which thread answers
 *   unattended   those that run with nobody to tell
 */
#ifndef TRUEHIT_STOPS_RUN_H
#define TRUEHIT_STOPS_RUN_H

#include <stdbool.h>

#include "inferior/inferior.h"
#include "inferior/late.h"
#include "inferior/launch.h"
#include "stops/breakpoints.h"
#include "stops/control.h"
#include "stops/output.h"

enum stop_kind {
	STOP_NONE,
	STOP_SIGNAL,	     /* .signal; also the end of a step (SIGTRAP) */
	STOP_SWBREAK,	     /* SIGTRAP at a software breakpoint; PC at its address */
	STOP_HWBREAK,	     /* SIGTRAP at a hardware breakpoint */
	STOP_WATCH,	     /* SIGTRAP after an access, or as if before it (look.h):
			      * .watch, .addr */
	STOP_FORK,	     /* the thread made process .child, a stopped inferior */
	STOP_VFORK,	     /* the same; it shares the memory */
	STOP_VFORK_DONE,     /* the vfork child has exec'ed or ended */
	STOP_EXEC,	     /* the thread runs a new program (inferior_exe) */
	STOP_SYSCALL_ENTRY,  /* the thread is about to enter .syscall */
	STOP_SYSCALL_RETURN, /* ... has returned from it */
	STOP_CLONE,	     /* the thread made the thread .child, a stopped one */
	STOP_CREATED,	     /* the thread is new and has not run yet */
	STOP_THREAD_EXITED,  /* .tid has ended, others of the process have not: .status
			      */
	STOP_EXITED,	     /* .status */
	STOP_KILLED,	     /* .signal */
	STOP_NO_RESUMED,     /* no thread that was resumed is left */
};

enum { SIGNALS_MAX = 65 }; /* host numbers 1..64 */

/** One stop as the client is told of it. */
struct stop {
	enum stop_kind kind;
	pid_t pid, tid;
	int signal; /* host number */
	int status;
	enum breakpoint_type watch; /* STOP_WATCH: which kind */
	uint64_t addr;		    /* STOP_WATCH: the watched address */
	struct watch_values values; /* STOP_WATCH: what its value filter has compared */
	bool looks;  /* STOP_SIGNAL: the end of the step after a STOP_WATCH, of which
		      * it has .watch, .addr, .values */
	pid_t child; /* STOP_FORK, STOP_VFORK, STOP_CLONE */
	int syscall; /* STOP_SYSCALL_ENTRY, STOP_SYSCALL_RETURN */
};

/** What else the client wants to hear of. */
struct run_wishes {
	bool fork;	    /* children become inferiors; else they are let go */
	bool vfork;	    /* the same, and STOP_VFORK_DONE */
	bool no_resumed;    /* STOP_NO_RESUMED */
	bool thread_events; /* STOP_CREATED, STOP_THREAD_EXITED of all threads */
};

TAILQ_HEAD(pending_list, pending_stop);
TAILQ_HEAD(lending_list, lending);

struct run {
	struct inferiors inferiors;
	struct engines engines;
	bool pass_signal[SIGNALS_MAX];	   /* QPassSignals: by host number */
	bool withhold_signal[SIGNALS_MAX]; /* not for the program after a detach */
	struct control_list
		has_pending; /* threads that have a stop, the oldest first */
	struct pending_list thread_ends; /* of threads that have ended (pending.h) */
	struct run_wishes wishes;
	bool non_stop;
	bool running; /* threads were resumed, no stop reported since; non-stop: some
		       * thread is resumed */
	struct stop last; /* what `?` answers */
	/* What commands of breakpoints print, and those of programs that their client
	 * has left; at first, both to stdout. */
	struct output output, own_output;

	/* Kept by run.c. */
	bool more; /* run_poll has not taken all that the kernel has to tell */
	bool interrupt_requested;
	struct lateness interrupt_lateness; /* of the answer */
	pid_t newest;	     /* the process that was started or attached to last */
	pid_t interrupt_pid; /* a thread of this process is to stop for it; 0: of any */
	bool halting;	     /* threads are being stopped */
	struct control_list ready; /* threads that may go on (ready.h) */
	bool all_ready;		   /* ... as all others may that are resumed */
	bool locations_move; /* outdated ones, as soon as all threads are stopped */
	struct lending_list lendings; /* the same: memory for vfork children (fork.h) */
	pid_t stepping_over;	      /* this thread alone runs (alone.h) */
	bool traps_away; /* of some inferior that has control->traps_away */
	bool any_untold; /* there may be threads whose stop is to be told again */
	uint64_t order;	 /* stops seen so far */
	struct stop unacknowledged; /* non-stop: reported, but the client may not know
				     * yet; STOP_NONE: nothing */
};

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
 * An error of run_unpause is one of committing. */
void run_pause(struct run *run);
struct error *run_unpause(struct run *run);
/**
 * Takes what the kernel has to tell (never blocks). True: *stop is to be reported,
 * and everything is stopped. Non-stop mode: only that thread is; no other stop is
 * reported before client_view_acknowledge.
 */
bool run_poll(struct run *run, struct stop *stop);
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
