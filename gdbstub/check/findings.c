/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/check/findings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "gdbstub/breakpoints/slots.h"
#include "gdbstub/check/attach_trial.h"
#include "gdbstub/check/hit_trial.h"
#include "gdbstub/engines/engines.h"
#include "gdbstub/locations/hit_costs.h"
#include "gdbstub/run/lifetimes.h"

enum {
	SLOW_CALLS = 50,      /* of which each stops a thread, or enters the kernel */
	QUICK_CALLS = 200000, /* of which none does */
};

static const struct {
	const char *name, *title; /* NULL: the engine's */
	const char *decides;
	struct hit_wish wish;
} ways[FOUND_WAYS] = {
	[FOUND_PAD] =
		{"pad",
		 "code in the program that a breakpoint's jump leads to, and that "
		 "begins with the condition",
		 "program",
		 {-1, BREAKPOINT_SOFTWARE, CHOOSE_AUTO, true, QUICK_CALLS}},
	[FOUND_UPROBE] = {NULL,
			  NULL,
			  "kernel",
			  {ENGINE_UPROBE, BREAKPOINT_SOFTWARE, CHOOSE_UPROBE, false,
			   SLOW_CALLS}},
	[FOUND_PERF_EVENT] = {NULL,
			      NULL,
			      "kernel",
			      {ENGINE_PERF_EVENT, BREAKPOINT_HARDWARE, CHOOSE_HARDWARE,
			       false, SLOW_CALLS}},
	[FOUND_DEBUGREG] = {NULL,
			    NULL,
			    "server",
			    {ENGINE_DEBUGREG, BREAKPOINT_HARDWARE, CHOOSE_PTRACE, false,
			     SLOW_CALLS}},
	[FOUND_INT3] = {NULL,
			NULL,
			"server",
			{ENGINE_INT3, BREAKPOINT_SOFTWARE, CHOOSE_PTRACE, false,
			 SLOW_CALLS}},
};

/* ---- ways to decide ---- */

static void take_engine(const struct engine *engine, struct way_finding *way)
{
	way->name = engine->ops->name;
	way->title = engine->ops->title;
	if (engine->unusable)
		way->unusable = error_copy(engine->unusable);
	else if (engine->ops->print_found)
		engine->ops->print_found(engine, &way->found);
}

/* By a session. Of hardware that misses hits now and then, as in some virtual machines,
 * nothing was measured; a trap that does is not usable. */
static void try_way(struct hit_trial *trial, const struct error *no_trial,
		    const struct hit_wish *wish, struct way_finding *way)
{
	struct error *error =
		no_trial ? error_copy(no_trial)
			 : hit_trial_measure(trial, wish, &way->false_hit_ns);

	if (!error)
		return;
	way->false_hit_ns = -1;
	if (wish->type == BREAKPOINT_HARDWARE && error_errno(error) == ERANGE)
		error_destroy(error);
	else
		way->unusable = error;
}

/* What the uprobe engine has measured already. */
static bool take_costs(const struct engines *engines, enum found_way index,
		       struct way_finding *way)
{
	const struct engine *engine = &engines->engine[ENGINE_UPROBE];
	const struct hit_costs *costs =
		engine->unusable ? NULL : engine->ops->costs(engine);

	if (!costs)
		return false;
	if (index == FOUND_PERF_EVENT && costs->hardware_ns > 0)
		way->false_hit_ns = costs->hardware_ns;
	if (index == FOUND_UPROBE && costs->emulated_ns > 0)
		way->false_hit_ns = costs->emulated_ns;
	if (index == FOUND_UPROBE && costs->stepped_ns > 0)
		way->stepped_ns = costs->stepped_ns;
	return way->false_hit_ns >= 0;
}

static void find_way(struct hit_trial *trial, const struct error *no_trial,
		     const struct engines *engines, enum found_way index,
		     struct way_finding *way)
{
	const struct hit_wish *wish = &ways[index].wish;

	*way = (struct way_finding){.name = ways[index].name,
				    .title = ways[index].title,
				    .decides = ways[index].decides,
				    .false_hit_ns = -1,
				    .stepped_ns = -1};
	if (wish->engine >= 0)
		take_engine(&engines->engine[wish->engine], way);
	if (!way->unusable && !take_costs(engines, index, way))
		try_way(trial, no_trial, wish, way);
}

/* The kernel takes other traps for its own once there are uprobes: theirs come last. */
static void find_ways(struct hit_trial *trial, const struct error *no_trial,
		      const struct engines *engines, struct findings *ret)
{
	for (int i = FOUND_WAYS - 1; i >= 0; i--)
		find_way(trial, no_trial, engines, (enum found_way)i, &ret->way[i]);
}

bool findings_kernel_decides(const struct findings *findings)
{
	return findings_has(findings, FOUND_UPROBE) ||
	       findings_has(findings, FOUND_PERF_EVENT);
}

/* ---- slots ---- */

static void find_pool(const struct breakpoints *breakpoints, enum hw_kind kind,
		      struct findings *ret)
{
	bool shared;
	unsigned int total = arch_native()->hw_slots(kind, &shared);
	int left = -1;

	if (shared && ret->pools > 0)
		return;
	if (breakpoints && !ret->no_slots)
		left = (int)slots_look(breakpoints, kind).free;
	ret->pool[ret->pools].kinds =
		kind == HW_EXECUTE ? "breakpoints" : "watchpoints";
	if (shared)
		ret->pool[ret->pools].kinds = "all";
	ret->pool[ret->pools].total = total;
	ret->pool[ret->pools].free = left;
	ret->pools++;
}

static void find_slots(const struct hit_trial *trial, const struct engines *engines,
		       struct findings *ret)
{
	const struct inferior *child = hit_trial_child(trial);
	const struct breakpoints *breakpoints = child ? child->breakpoints : NULL;
	const char *why = engines_no_slots(engines);

	ret->no_slots = why ? strdup(why) : NULL;
	find_pool(breakpoints, HW_EXECUTE, ret);
	find_pool(breakpoints, HW_WRITE, ret);
}

/* ---- all ---- */

static void find_counters(struct findings *ret)
{
	counters_count(ret->count);
	for (unsigned int i = 0; i < RETIRED_EVENTS; i++)
		counter_find(&ret->until_count, (enum retired_event)i);
}

void findings_make(struct findings *ret)
{
	_cleanup_error_ struct error *no_trial = NULL;
	struct hit_trial trial;
	struct run run;

	*ret = (struct findings){0};
	machine_look(&ret->machine);
	run_init(&run);
	engines_probe(&run.engines);
	no_trial = hit_trial_begin(&trial, &run);
	find_slots(&trial, &run.engines, ret);
	find_ways(&trial, no_trial, &run.engines, ret);
	hit_trial_end(&trial);
	run_deinit(&run);
	ret->no_attach = attach_trial();
	find_counters(ret);
}

void findings_deinit(struct findings *findings)
{
	for (int i = 0; i < FOUND_WAYS; i++) {
		error_destroy(findings->way[i].unusable);
		buffer_deinit(&findings->way[i].found);
	}
	error_destroy(findings->no_attach);
	free(take_ptr(findings->no_slots));
}
