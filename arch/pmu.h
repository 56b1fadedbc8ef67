/* SPDX-License-Identifier: BSD-2-Clause */
/* What the processor counts of what it retires (PMU), and code by which that is tried
 * out. */
#ifndef TRUEHIT_ARCH_PMU_H
#define TRUEHIT_ARCH_PMU_H

#include <stdbool.h>
#include <stdint.h>

/** What can be counted of a thread: each by the instruction and where it has led to. */
enum retired_event {
	RETIRED_INSTRUCTIONS,
	RETIRED_BRANCHES,
	RETIRED_CONDITIONAL, /* ... that may be taken or not */
	RETIRED_TAKEN,	     /* ... that have led elsewhere than to the next one */
	RETIRED_EVENTS
};

/** An event of the processor's by which it may be counted. */
struct counter_raw {
	uint32_t type;	 /* PERF_TYPE_* */
	uint64_t config; /* of struct perf_event_attr */
};

/**
 * A function that executes a breakpoint instruction, so many turns of a loop, and then
 * another breakpoint instruction, or an access to address 0. Its first result is how
 * many turns it has tried in vain.
 */
struct counter_loop {
	const char *name; /* what it has beside instructions, for people */
	void (*run)(uint64_t turns);
	bool faults; /* it ends with that access */
	/* After the first breakpoint, up to what it ends with: in each turn, in each
	 * that was tried in vain, and else. */
	uint8_t turn[RETIRED_EVENTS], again[RETIRED_EVENTS];
	int8_t else_[RETIRED_EVENTS];
};

struct counter_ops {
	/** What may count the event on this processor; whether it does is found out by
	 * doing. Returns how many there are. */
	unsigned int (*raw)(enum retired_event event, const struct counter_raw **ret);
	/** So many of them the interrupt may come late. */
	uint64_t (*skid)(enum retired_event event);
	/** What makes its counts wrong at times, as loops cannot show; or NULL. */
	const char *(*why_not)(void);
	const struct counter_loop *loop;
	unsigned int loops;
};

#endif
