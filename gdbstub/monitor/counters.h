/* SPDX-License-Identifier: BSD-2-Clause */
/* What the processor's counters (PMU) count in user mode, found out by counting. */
#ifndef TRUEHIT_MONITOR_COUNTERS_H
#define TRUEHIT_MONITOR_COUNTERS_H

#include <stdint.h>

#include "gdbstub/base/json_writer.h"
#include "gdbstub/control/counter_trial.h"

/** What an event has counted. */
enum count_verdict {
	COUNT_REFUSED, /* nothing: .err */
	COUNT_TOO_FEW,
	COUNT_EXACT,
	COUNT_INEXACT,
	COUNT_UNKNOWN, /* nobody can say what is right */
};

struct event_count {
	const char *name; /* "instructions", "branches", "cycles" */
	enum count_verdict verdict;
	int err; /* negative errno */
	uint64_t first, second;
};

enum { EVENT_COUNTS = 3 };

/** Counts a loop of this very process's with each event that programs mostly want,
 * twice. */
void counters_count(struct event_count *ret);

/** Appends a line for each: "NAME: " and what it has counted, whether that is exact, or
 * why it counts nothing. Then, for each event of until-count, whether the processor
 * counts that, or why it is stepped. */
void counters_print(const struct event_count *counts, struct counter_findings *findings,
		    struct buffer *out);
/** The same, of what is counted now. */
void counters_show(struct counter_findings *findings, struct buffer *out);

/** For scripts: the members "counters" and "until_count"; all has been tried. */
void counters_write(struct json *json, const struct event_count *counts,
		    const struct counter_findings *findings);
/** A document with these, of what is counted now. */
void counters_show_json(struct counter_findings *findings, struct buffer *out);

#endif
