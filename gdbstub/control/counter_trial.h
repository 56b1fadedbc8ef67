/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether the processor's counters count what is executed, exactly, and interrupt in
 * time: found out on a child that executes loops which were counted by hand.
 */
#ifndef TRUEHIT_CONTROL_COUNTER_TRIAL_H
#define TRUEHIT_CONTROL_COUNTER_TRIAL_H

#include "gdbstub/control/counter.h"

enum { COUNTER_WHY_MAX = 160 };

struct counter_finding {
	bool known;  /* it was tried */
	bool usable; /* ... and may be used; else: */
	char why_not[COUNTER_WHY_MAX];
	struct counter_kind kind;
	uint64_t skid;	   /* so many of them it may interrupt late, */
	uint64_t late;	   /* ... so many it was at most when it was tried */
	bool counts_traps; /* a breakpoint instruction, which is not retired */
};

/** By the event. */
struct counter_findings {
	struct counter_finding of[RETIRED_EVENTS];
};

/** What was found out about the event; it is tried now if it was not. */
const struct counter_finding *counter_find(struct counter_findings *findings,
					   enum retired_event event);

#endif
