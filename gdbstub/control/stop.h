/* SPDX-License-Identifier: BSD-2-Clause */
/* What the client is told of: a stop. */
#ifndef TRUEHIT_CONTROL_STOP_H
#define TRUEHIT_CONTROL_STOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "bpf/shared/watch_last.h"
#include "gdbstub/locations/engine.h"

enum stop_kind {
	STOP_NONE,
	STOP_SIGNAL,	 /* .signal; also the end of a step (SIGTRAP) */
	STOP_SWBREAK,	 /* SIGTRAP at a software breakpoint; PC at its address */
	STOP_HWBREAK,	 /* SIGTRAP at a hardware breakpoint */
	STOP_WATCH,	 /* SIGTRAP after an access, or as if before it (look_after.h):
			  * .watch, .addr */
	STOP_FORK,	 /* the thread made process .child, a stopped inferior */
	STOP_VFORK,	 /* the same; it shares the memory */
	STOP_VFORK_DONE, /* the vfork child has exec'ed or ended */
	STOP_EXEC,	 /* the thread runs a new program (inferior_exe) */
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

/** A watchpoint that was hit. */
struct watch_hit {
	enum breakpoint_type type;
	uint64_t addr;
	struct watch_values values; /* what its value filter has compared */
};

/** One stop as the client is told of it. */
struct stop {
	enum stop_kind kind;
	pid_t pid, tid;
	int signal; /* host number */
	int status;
	enum breakpoint_type watch; /* STOP_WATCH: which kind */
	uint64_t addr;		    /* STOP_WATCH: the watched address */
	struct watch_values values; /* STOP_WATCH: what its value filter has compared */
	struct watch_hit others[HITS_MAX - 1]; /* STOP_WATCH: what the same access has
						* hit, too, for clients that are told of
						* all (run_wishes.all_watches) */
	unsigned int nothers;
	bool looks;   /* STOP_SIGNAL: the end of the step after a STOP_WATCH, of which
		       * it has .watch, .addr, .values, .others */
	bool stepped; /* STOP_SIGNAL: the end of a client's step, and nothing else */
	pid_t child;  /* STOP_FORK, STOP_VFORK, STOP_CLONE */
	int syscall;  /* STOP_SYSCALL_ENTRY, STOP_SYSCALL_RETURN */
};

/** One that waits to be told (pending.h). */
struct pending_stop {
	TAILQ_ENTRY(pending_stop) link; /* in run->thread_ends */
	struct stop stop;
	uint64_t order;	 /* stops are reported in the order in which they were seen */
	bool step_ended; /* SIGTRAP for no other reason */
	bool gives_way; /* the answer of a thread that was late: what it stops for comes
			 * instead, if it does before this was told */
	bool replayed;	/* it has been told once, with what led to it (replay.h) */
};

#endif
