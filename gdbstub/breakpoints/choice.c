/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/breakpoints/choice.h"

#include <errno.h>
#include <string.h>

#include "gdbstub/breakpoints/breakpoints.h"
#include "gdbstub/locations/hit_costs.h"
#include "gdbstub/locations/ignore.h"
#include "gdbstub/text/text.h"
#include "gdbstub/text/trap.h"
#include "gdbstub/text/traps.h"
#include "gdbstub/text/undo.h"

static const char *const names[] = {
	[CHOOSE_AUTO] = "auto",
	[CHOOSE_UPROBE] = "uprobe",
	[CHOOSE_HARDWARE] = "hardware",
	[CHOOSE_PTRACE] = "ptrace",
};

const char *choice_name(enum engine_choice choice)
{
	return names[choice];
}

int choice_parse(const char *name, enum engine_choice *ret)
{
	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(name, names[i]) != 0)
			continue;
		*ret = i;
		return 0;
	}
	return -EINVAL;
}

/* Has the program a breakpoint instruction of its own there? */
static bool is_own_trap(const struct location *location)
{
	const struct arch_ops *arch = location->inferior->arch;
	uint8_t insn[8];
	ssize_t n = breakpoints_read_memory(location->inferior, location->addr, insn,
					    arch->breakpoint_len);

	return n == (ssize_t)arch->breakpoint_len &&
	       memcmp(insn, arch->breakpoint_insn, arch->breakpoint_len) == 0;
}

bool choice_passes_hits(const struct location *location)
{
	return location->conditions.count > 0 || location->commands.list.count > 0 ||
	       ignore_left(location) > 0;
}

bool choice_needs_slot(const struct location *location)
{
	return location->type == BREAKPOINT_SOFTWARE && location->restartable &&
	       choice_passes_hits(location);
}

const char *choice_restarts(const struct location *location)
{
	if (!choice_needs_slot(location) || location->state == LOCATION_OUT ||
	    location->engine->ops->drops_in_place)
		return NULL;
	return "each hit stops its thread, so that the restartable sequence (rseq) "
	       "begins anew: one that tries until it succeeds does not get past a "
	       "false hit";
}

/* One at a breakpoint instruction of the program's own explains that one, so a false
 * hit must not run into it. */
const char *choice_keeps_out(const struct location *location)
{
	if (location->type != BREAKPOINT_SOFTWARE)
		return NULL;
	if (!choice_passes_hits(location))
		return "it stops at every hit, so it leaves the few hardware slots to "
		       "those that gain from them";
	if (is_own_trap(location))
		return "the program has a breakpoint instruction of its own there";
	return NULL;
}

static const struct hit_costs *find_costs(const struct engines *engines)
{
	const struct engine *engine = &engines->engine[ENGINE_UPROBE];

	return engine->unusable ? NULL : engine->ops->costs(engine);
}

static bool may_have_pad(const struct engines *engines, const struct location *location)
{
	return engines->pads != PADS_OFF && !engines->others_run && !location->padless;
}

/* 0: it could not be measured. */
static bool is_within(unsigned int ns, unsigned int limit)
{
	return ns > 0 && ns <= limit;
}

/*
 * Is a uprobe cheaper than a slot, which is worth twice what a hit costs: there are
 * few, and what was measured varies. Only where the answer depends on it, the
 * instruction is looked at. A slot in which nothing was hit is worth nothing.
 */
static bool uprobe_is_cheaper(const struct engines *engines,
			      const struct location *location)
{
	const struct hit_costs *costs = find_costs(engines);
	unsigned int slot;

	if (!costs || costs->hardware_ns == 0)
		return costs;
	slot = 2 * costs->hardware_ns;
	return is_within(costs->stepped_ns, slot) ||
	       (is_within(costs->emulated_ns, slot) &&
		(may_have_pad(engines, location) ||
		 undo_is_emulated(location->inferior, location->addr)));
}

static bool is_emulated(const struct location *location)
{
	return (location->trap && trap_is_jump(location)) ||
	       undo_is_emulated(location->inferior, location->addr);
}

unsigned int choice_trial_ns(const struct location *location)
{
	const struct hit_costs *costs =
		find_costs(location->inferior->breakpoints->engines);
	const struct engine_ops *ops = location->engine->ops;

	if (!costs)
		return 0;
	if (ops->kernel_traps)
		return is_emulated(location) ? costs->emulated_ns : costs->stepped_ns;
	return ops->drops_in_place ? costs->hardware_ns : 0;
}

void choice_print_costs(const struct engines *engines, const struct location *location,
			struct buffer *out)
{
	const struct hit_costs *costs = find_costs(engines);
	bool emulated, in_pad;

	if (!costs)
		return;
	in_pad = location->trap && trap_is_jump(location);
	emulated = is_emulated(location);
	buffer_append_string(out, "a false hit costs ");
	hit_costs_append(emulated ? costs->emulated_ns : costs->stepped_ns, out);
	buffer_printf(out, " by a uprobe (the kernel %s the %s), in hardware ",
		      emulated ? "emulates" : "makes a step over",
		      in_pad ? "nop of its pad" : "instruction");
	if (costs->hardware_ns > 0)
		hit_costs_append(costs->hardware_ns, out);
	else
		buffer_append_string(out, "nothing can be had");
}

/* In memory that is shared with another inferior, there can be one kind of trap. */
static bool meets_kernel_trap(const struct location *location)
{
	const struct location *other = trap_at(location->inferior, location->addr);

	return other && other->engine->ops->kernel_traps;
}

bool choice_among_uprobes(const struct inferior *inferior)
{
	const struct inferior *other;

	FOREACH_SHARING (other, inferior) {
		if (other->breakpoints && other->breakpoints->uprobed)
			return true;
	}
	return false;
}

/*
 * Is a uprobe better than a trap of our own at a location that stops at every hit? To
 * gdb both are as quick, at stops and at the short-lived breakpoints of `next` (within
 * 5 %, tests/bench/probes.py). But a process that the server was attached to outlives
 * the uprobe unharmed; one that the server has started ends with it.
 */
static bool is_to_be_harmless(const struct location *location)
{
	return location->inferior->attached;
}

static bool wants_uprobe(const struct engines *engines, const struct location *location)
{
	if (engines->choice == CHOOSE_AUTO)
		return choice_passes_hits(location) || is_to_be_harmless(location) ||
		       choice_among_uprobes(location->inferior);
	return engines->choice == CHOOSE_UPROBE;
}

/* Among uprobes, those of other servers would take the hits of a trap of ours. */
static bool may_have_slot(const struct engines *engines,
			  const struct location *location)
{
	if (engines->choice == CHOOSE_PTRACE)
		return false;
	return !choice_keeps_out(location) ||
	       (choice_among_uprobes(location->inferior) && !is_own_trap(location));
}

/* Without rights to have programs in the kernel: at a pad's trap only what its filter
 * has not found to be false stops, and in a slot all. */
static bool has_filter(const struct engines *engines, const struct location *location)
{
	return may_have_pad(engines, location) && engines->choice == CHOOSE_AUTO &&
	       location->conditions.count > 0 &&
	       engines->engine[ENGINE_UPROBE].unusable && !choice_keeps_out(location) &&
	       location->inferior->arch->native;
}

static unsigned int list_software(const struct engines *engines,
				  const struct location *location, int *choices)
{
	bool uprobe = wants_uprobe(engines, location) || meets_kernel_trap(location);
	bool first = uprobe &&
		     (engines->choice != CHOOSE_AUTO || choice_keeps_out(location) ||
		      uprobe_is_cheaper(engines, location));
	bool slot = may_have_slot(engines, location);
	unsigned int n = 0;

	if (has_filter(engines, location))
		choices[n++] = ENGINE_INT3;
	if (first)
		choices[n++] = ENGINE_UPROBE;
	if (slot) {
		choices[n++] = ENGINE_PERF_EVENT;
		choices[n++] = ENGINE_DEBUGREG;
	}
	if (uprobe && !first)
		choices[n++] = ENGINE_UPROBE;
	choices[n++] = ENGINE_INT3;
	/* Where no trap can be written (a file that is mapped shared, say). */
	if (!slot && engines->choice != CHOOSE_PTRACE)
		choices[n++] = ENGINE_PERF_EVENT;
	return n;
}

unsigned int choice_list(const struct engines *engines, const struct location *location,
			 int *choices)
{
	unsigned int n = 0;

	if (location->type == BREAKPOINT_SOFTWARE)
		return list_software(engines, location, choices);
	if (engines->choice != CHOOSE_PTRACE)
		choices[n++] = ENGINE_PERF_EVENT;
	choices[n++] = ENGINE_DEBUGREG;
	return n;
}
