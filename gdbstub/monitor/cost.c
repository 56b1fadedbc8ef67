/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/monitor/cost.h"

#include "gdbstub/breakpoints/choice.h"
#include "gdbstub/breakpoints/watch.h"
#include "gdbstub/control/pace.h"
#include "gdbstub/locations/hit_costs.h"
#include "gdbstub/pads/location_pad.h"

/* ---- by the clock ---- */

/* Hits that have stopped no thread. */
static uint64_t passed(const struct location *location, const struct hit_counts *counts)
{
	const struct engine_ops *ops = location->engine->ops;
	struct counts filtered = {0};

	if (ops->kernel_traps || ops->drops_in_place)
		return counts->hits - counts->maybes;
	if (ops->pad)
		location_pad_add_counts(ops->pad(location), &filtered);
	return counts_total(&filtered).hits;
}

/* One in a hundred that stops its thread makes no difference to speak of. */
static bool stops_nobody(const struct location *location,
			 const struct hit_counts *counts)
{
	return passed(location, counts) >= counts->hits - counts->hits / 100;
}

static bool is_single(const struct inferior *inferior)
{
	return TAILQ_FIRST(&inferior->threads) &&
	       !TAILQ_NEXT(TAILQ_FIRST(&inferior->threads), link);
}

void cost_find(const struct location *location, struct cost *ret)
{
	const struct count_mark now = pace_mark(location);
	const struct count_mark since = pace_between(&location->begun, &now);
	uint64_t ns = 0;

	*ret = (struct cost){.since = since};
	if (location->state == LOCATION_OUT)
		return;
	if (!watch_tells_all(location))
		ret->trial_ns = choice_trial_ns(location);
	ret->by_processors = stops_nobody(location, &since.counts);
	if (since.counts.hits < COST_HITS_MIN)
		return;
	if (ret->by_processors)
		ns = since.used_ns;
	else if (is_single(location->inferior))
		ns = since.ran_ns;
	ret->most_ns = (double)ns / (double)since.counts.hits;
}

/* ---- what is told ---- */

/* Where the choice is by costs. */
static bool is_chosen_by_costs(const struct location *location)
{
	return location->type == BREAKPOINT_SOFTWARE && !choice_keeps_out(location) &&
	       !location->engine->ops->own_traps;
}

static void tell_trial(const struct location *location, const struct cost *cost,
		       struct buffer *out)
{
	_cleanup_buffer_ struct buffer text = {0};

	if (is_chosen_by_costs(location) && !watch_tells_all(location)) {
		choice_print_costs(location->inferior->breakpoints->engines, location,
				   &text);
	} else if (cost->trial_ns > 0) {
		buffer_append_string(&text, "a false hit costs ");
		hit_costs_append(cost->trial_ns, &text);
	}
	if (text.len > 0)
		buffer_printf(out, "  costs:       %s; a trial has shown it\n",
			      buffer_string(&text));
}

static void tell_measured(const struct cost *cost, struct buffer *out)
{
	const uint64_t ns =
		cost->by_processors ? cost->since.used_ns : cost->since.ran_ns;

	if (cost->since.counts.hits < COST_HITS_MIN || ns == 0)
		return;
	buffer_append_string(out, "  measured:    ");
	if (cost->most_ns > 0) {
		buffer_append_string(out, "at most ");
		hit_costs_append((unsigned int)(cost->most_ns + 0.5), out);
		buffer_append_string(out, " a hit: ");
	}
	buffer_append_count(out, cost->since.counts.hits);
	buffer_printf(out, " in %.3f s %s\n", (double)ns / 1e9,
		      cost->by_processors ? "of processors for all that the program did"
					  : "in which the program ran");
}

void cost_tell(const struct location *location, struct buffer *out)
{
	struct cost cost;

	cost_find(location, &cost);
	tell_trial(location, &cost, out);
	tell_measured(&cost, out);
}
