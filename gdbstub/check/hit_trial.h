/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a false hit costs with each engine, and whether pads can be made: found out by a
 * session with a child that calls a function at which a breakpoint is, whose condition
 * is false. All is as it is for a client's program: run control, engines, pads.
 */
#ifndef TRUEHIT_CHECK_HIT_TRIAL_H
#define TRUEHIT_CHECK_HIT_TRIAL_H

#include "gdbstub/breakpoints/breakpoints.h"
#include "gdbstub/run/run.h"

struct hit_trial {
	struct run *run;	   /* the child is its only inferior */
	struct hit_shared *shared; /* with the child */
	struct agent_expr *condition;
	double call_ns; /* of a call without a breakpoint */
};

/** How the function's breakpoint is to be served. */
struct hit_wish {
	int engine; /* ENGINE_*; -1: any */
	enum breakpoint_type type;
	enum engine_choice choice;
	bool in_pad;	    /* ... and its condition to be decided by a pad's filter */
	unsigned int calls; /* that are measured at a time */
};

/** Makes the child, of a run whose engines have been probed. The error: nothing can be
 * tried; hit_trial_end() is legal, and due. */
struct error *hit_trial_begin(struct hit_trial *trial, struct run *run);
void hit_trial_end(struct hit_trial *trial);
/** NULL: there is none. */
struct inferior *hit_trial_child(const struct hit_trial *trial);

/**
 * Has the child call the function some times. *ns: of one hit, without what the call
 * itself takes. The error says what did not go as wished; errno ERANGE: it is in place,
 * but not all calls were hits.
 */
struct error *hit_trial_measure(struct hit_trial *trial, const struct hit_wish *wish,
				double *ns);

#endif
