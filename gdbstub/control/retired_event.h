/* SPDX-License-Identifier: BSD-2-Clause */
/* What is counted of a thread (gdbstub/run/retired.h). */
#ifndef TRUEHIT_CONTROL_RETIRED_EVENT_H
#define TRUEHIT_CONTROL_RETIRED_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/arch.h"
#include "arch/pmu.h"
#include "gdbstub/control/counter.h"

/** The user's wish: how it is counted (monitor set skid). */
struct retired_setting {
	bool steps;	 /* by steps alone */
	bool own_margin; /* else, so many before the end the steps begin: */
	uint64_t margin;
};

/** Of a thread: what its steps are to count, and how far they are. */
struct retired {
	enum retired_event event;
	uint64_t left;	/* so many are still to be counted; 0: nothing is */
	uint64_t limit; /* of steps of its next resume; 0: there is none */
	bool lost;	/* it has run without steps since */
	/* What it is about to execute, if: */
	bool known;
	uint64_t pc;
	struct insn_branch branch;
	bool may_be_none; /* ... or nothing, if the step leads nowhere */
	bool in_call; /* it has stopped within a system call: that is counted, and its
		       * next step ends where the call returns */
	uint64_t wanted, steps;
	int64_t begin, told; /* ms, of CLOCK_MONOTONIC: the first step, and when the
			      * user was told last; 0: not yet */
	/* Where the processor counts (gdbstub/run/under_counter.h): */
	struct counter counter; /* while the thread runs, */
	bool runs;		/* ... and that was how it was resumed last */
	int signals_by; /* the signal of this descriptor may be still to come; -1 */
	uint64_t by_counter; /* so many were counted so */
	uint64_t overshot;   /* so many more than wanted were executed */
};

/** "instructions", "branches" and so on. */
const char *retired_event_name(enum retired_event event);
/** The event of a name; false: there is none. */
bool retired_event_find(const char *name, enum retired_event *ret);

#endif
