/* SPDX-License-Identifier: BSD-2-Clause */
/* What run control keeps of each thread and each inferior. */
#ifndef TRUEHIT_CONTROL_CONTROL_H
#define TRUEHIT_CONTROL_CONTROL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "gdbstub/control/retired_event.h"
#include "gdbstub/control/stop.h"
#include "gdbstub/inferior/inferior.h"

struct last_hit;
struct look;
struct output;
struct pending_stop;
struct replay;

enum { HITS_IN_VAIN_MAX = 16 }; /* no instruction can hit more */

/** What a client asked a thread to do (vCont); kept until it is reported. */
enum resume_kind {
	RESUME_NONE, /* stay stopped */
	RESUME_CONTINUE,
	RESUME_STEP,  /* one instruction */
	RESUME_RANGE, /* step while start <= PC < end */
	RESUME_STOP,  /* vCont;t: stop, report signal 0 */
};

struct resume_action {
	enum resume_kind kind;
	int signal;	     /* to deliver, host number; 0: none */
	uint64_t start, end; /* RESUME_RANGE */
	uint64_t steps;	     /* RESUME_STEP: so many more before the stop */
};

/** How the loop lets a thread run that may go on. */
enum resume_how {
	RESUME_BY_ACTION,
	RESUME_AGAIN,	  /* as it was resumed last */
	RESUME_LISTENING, /* it stays in its group stop, where only SIGCONT wakes it */
};

struct thread_control {
	struct thread *thread;
	TAILQ_ENTRY(thread_control) ready; /* in run->ready, if: */
	bool is_ready;
	enum resume_how how;
	struct resume_action action; /* not RESUME_NONE: resumed */
	uint64_t steps_left;	/* of its last single step, which has ended early */
	struct retired retired; /* what its steps count */
	bool fresh;		/* action given, run_resume not yet called */
	bool stop_requested;	/* vCont;t, not yet answered */
	bool untold;		/* non-stop: its stop is to be told again */
	bool passed_over;	/* non-stop: ... when the client asks for it */
	bool lends_memory;	/* its vfork child runs there, without traps (fork.c) */
	bool hidden;	  /* made by a thread whose STOP_CLONE is not reported yet */
	bool end_told;	  /* a leader that has ended, and the client knows */
	int last_signal;  /* of the stop that was reported last */
	struct stop told; /* why it has stopped, as the client knows; STOP_NONE: for no
			   * reason of its own, or it was resumed since (told.h) */
	struct pending_stop *pending_stop; /* a stop not yet reported; freed with the
					    * thread. If there is one: */
	TAILQ_ENTRY(thread_control) has_pending; /* in run->has_pending */
	struct last_hit *last_hit; /* at a watchpoint; freed with the thread */
	struct look *look;  /* ... that is decided after the access (look_after.h); the
			       same */
	bool at_hit;	    /* it has stopped for a hit, or where it had */
	bool steps_program; /* its step began at a trap that has a program */
	bool needs_step_over; /* at step_over_at it has hit in vain: step_over.h */
	uint64_t step_over_at;
	bool trap_in_vain; /* the trap there is among what it has hit */
	unsigned int hit_in_vain[HITS_IN_VAIN_MAX]; /* numbers of locations there that
						     * are no traps, so many: */
	unsigned int hits_in_vain;
};

TAILQ_HEAD(control_list, thread_control);

struct inferior_control {
	struct pending_stop *pending_stop; /* its end, not yet reported */
	struct replay *replay; /* what the client is shown; NULL: memory as it is */
	unsigned int executed; /* other programs, so often */
	bool awaited;	     /* non-stop: the client has resumed a thread, and waits */
	bool seen;	     /* a client has been told of a stop of it */
	bool hidden;	     /* forked: the client has not been told of it yet */
	bool traps_away;     /* ... from its memory, and are to go back (alone.h) */
	bool lends_for_good; /* its memory, until it ends (the same) */
};

/** From now on they are made and freed with the threads and inferiors of @run, which
 * has none yet. */
void control_init(struct run *run);

/** Is there an inferior that runs with nobody to tell (unattended.h)? */
bool control_any_unattended(const struct run *run);
/** Where what commands print in this inferior goes. */
const struct output *control_output(const struct run *run,
				    const struct inferior *inferior);

#endif
