/* SPDX-License-Identifier: BSD-2-Clause */
/* What run control keeps besides what it keeps of each thread and each inferior. */
#ifndef TRUEHIT_CONTROL_RUN_STATE_H
#define TRUEHIT_CONTROL_RUN_STATE_H

#include <stdbool.h>
#include <sys/queue.h>

#include "gdbstub/inferior/inferior.h"
#include "gdbstub/inferior/late.h"
#include "gdbstub/control/control.h"
#include "gdbstub/control/counter_trial.h"
#include "gdbstub/locations/engine.h"
#include "gdbstub/locations/output.h"
#include "gdbstub/control/stop.h"
#include "gdbstub/control/turn.h"

enum { SIGNALS_MAX = 65 }; /* host numbers 1..64 */

/** What else the client wants to hear of. */
struct run_wishes {
	bool fork;	    /* children become inferiors; else they are let go */
	bool vfork;	    /* the same, and STOP_VFORK_DONE */
	bool no_resumed;    /* STOP_NO_RESUMED */
	bool thread_events; /* STOP_CREATED, STOP_THREAD_EXITED of all threads */
	bool all_stops;	    /* all-stop mode: of all threads at once (told.h) */
	bool all_watches;   /* of all watchpoints that an access has hit */
};

/** Does the client only continue (gdbstub/run/continuation.h)? */
struct continuation {
	bool is_on;
	bool steps_over;  /* steps from a breakpoint are over it, whatever is there */
	pid_t stepped;	  /* this thread was stepped over a breakpoint; 0: none */
	uint64_t from;	  /* ... from this PC */
	unsigned int len; /* ... where an instruction of so many bytes is */
};

/** A step in a crowd (gdbstub/stops/ahead.h). */
struct ahead {
	pid_t tid;	 /* this thread steps; 0: nobody waits */
	bool last;	 /* it waits for the others; else they for it */
	int64_t until;	 /* us, CLOCK_MONOTONIC; 0: that has not begun yet */
	int64_t resumed; /* us, the same: the last resume by the client */
	int64_t waited;	 /* us: so long the others have, since they ran */
};

TAILQ_HEAD(pending_list, pending_stop);
TAILQ_HEAD(lending_list, lending);

struct run {
	struct inferiors inferiors;
	struct engines engines;
	bool engines_tried;		   /* run_try_engines() */
	bool pass_signal[SIGNALS_MAX];	   /* QPassSignals: by host number */
	bool withhold_signal[SIGNALS_MAX]; /* not for the program after a detach */
	struct control_list
		has_pending; /* threads that have a stop, the oldest first */
	struct pending_list thread_ends; /* of threads that have ended (pending.h) */
	struct run_wishes wishes;
	struct continuation continuation;
	struct retired_setting counting;
	struct counter_findings counters;
	bool any_counted; /* a thread may run under a counter: they are looked at */
	struct lateness counted_since;
	bool non_stop;
	bool running; /* threads were resumed, no stop reported since; non-stop: some
		       * thread is resumed (pace_set_running) */
	uint64_t running_since, ran_ns; /* kept by pace.c */
	struct stop last;		/* what `?` answers */
	/* What commands of breakpoints print, and those of programs that their client
	 * has left; at first, both to stdout. */
	struct output output, own_output;

	/* Kept by run.c. */
	struct turn turn; /* of the processor, while a step is made */
	bool more;	  /* run_poll has not taken all that the kernel has to tell */
	bool interrupt_requested;
	struct lateness interrupt_lateness; /* of the answer */
	struct lateness
		hot_lateness; /* since the last look for hot locations (hot.h) */
	int hot_interval; /* ms, to the next one; 0: none was made since the stop, -1:
			   * none is of use */
	pid_t newest;	  /* the process that was started or attached to last */
	pid_t interrupt_pid; /* a thread of this process is to stop for it; 0: of any */
	bool halting;	     /* threads are being stopped */
	struct control_list ready; /* threads that may go on (ready.h) */
	bool all_ready;		   /* ... as all others may that are resumed */
	bool locations_move; /* outdated ones, as soon as all threads are stopped */
	struct lending_list lendings; /* the same: memory for vfork children (fork.h) */
	bool any_orphans;	      /* ... children of killed makers go (the same) */
	pid_t stepping_over;	      /* this thread alone runs (alone.h) */
	struct ahead ahead;
	bool traps_away; /* of some inferior that has control->traps_away */
	bool any_untold; /* there may be threads whose stop is to be told again */
	uint64_t order;	 /* stops seen so far */
	struct stop unacknowledged; /* non-stop: reported, but the client may not know
				     * yet; STOP_NONE: nothing */
};

#endif
