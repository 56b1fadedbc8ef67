/* SPDX-License-Identifier: BSD-2-Clause */
/* All that `truehit --check` finds out. */
#ifndef TRUEHIT_CHECK_FINDINGS_H
#define TRUEHIT_CHECK_FINDINGS_H

#include "gdbstub/base/error.h"
#include "gdbstub/check/machine.h"
#include "gdbstub/monitor/counters.h"

/** The ways to decide about a hit. Pads are no engine: an engine's trap is in each,
 * after a filter, which is what was tried. */
enum found_way {
	FOUND_PAD,
	FOUND_UPROBE,
	FOUND_PERF_EVENT,
	FOUND_DEBUGREG,
	FOUND_INT3,
	FOUND_WAYS
};

struct way_finding {
	const char *name, *title;
	const char *decides;	/* who: "program", "kernel" or "server" */
	struct error *unusable; /* why it cannot be used, or NULL */
	struct buffer found;	/* what else the engine has found out, for people */
	/* Of a false hit, nanoseconds; negative: not known. */
	double false_hit_ns;
	double stepped_ns; /* ... where the kernel steps over the instruction */
};

enum { POOLS_MAX = 2 };

struct findings {
	struct machine machine;
	struct error *no_attach; /* why not to others' processes, or NULL */
	struct way_finding way[FOUND_WAYS];
	struct {
		const char *kinds; /* "all", "breakpoints" or "watchpoints" */
		unsigned int total;
		int free; /* -1: not known */
	} pool[POOLS_MAX];
	unsigned int pools;
	char *no_slots; /* why slots serve nothing, or NULL */
	struct event_count count[EVENT_COUNTS];
	struct counter_findings until_count;
};

/** Finds it all out, in a second or so. findings_deinit() is due. */
void findings_make(struct findings *ret);
void findings_deinit(struct findings *findings);

static inline bool findings_has(const struct findings *findings, enum found_way way)
{
	return !findings->way[way].unusable;
}

/** Are conditions of breakpoints decided in the kernel where no pad decides them? */
bool findings_kernel_decides(const struct findings *findings);

#endif
