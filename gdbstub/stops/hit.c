/* SPDX-License-Identifier: BSD-2-Clause */
#include "stops/hit.h"

#include "stops/breakpoints.h"
#include "stops/evaluate.h"

void hits_collect(struct engines *engines, const struct event *event, struct hits *hits)
{
	*hits = (struct hits){0};
	for (int i = 0; i < NENGINES; i++) {
		struct engine *engine = &engines->engine[i];

		if (!engine->unusable)
			engine->ops->on_stop(engine, event, hits);
	}
}

static bool hit_is_true(const struct hit *hit, struct thread *thread)
{
	struct location *location = hit->location;
	bool is_true;

	if (hit->verdict == HIT_TRUE)
		return true; /* counted in the kernel */
	is_true = evaluate_conditions(location, thread);
	if (hit->verdict == HIT_PLAIN)
		location->counts.hits++;
	if (is_true)
		location->counts.trues++;
	return is_true;
}

struct location *hits_evaluate(const struct hits *hits, struct thread *thread,
			       const struct output *output)
{
	struct location *first = NULL;

	for (unsigned int i = 0; i < hits->count; i++) {
		struct location *location = hits->hit[i].location;

		/* Every hit is evaluated, so that every one is counted. */
		if (!hit_is_true(&hits->hit[i], thread))
			continue;
		if (location->commands.list.count > 0)
			evaluate_commands(location, thread, output);
		else if (!first)
			first = location;
	}
	return first;
}

void hits_stepped_to(struct thread *thread, const struct output *output)
{
	const struct location *location;
	uint64_t pc;

	if (thread_get_pc(thread, &pc) < 0)
		return;
	TAILQ_FOREACH (location, &thread->inferior->breakpoints->locations, link) {
		if (location->addr == pc && location->type <= BREAKPOINT_HARDWARE &&
		    location->state == LOCATION_IN &&
		    location->commands.list.count > 0 &&
		    evaluate_conditions(location, thread))
			evaluate_commands(location, thread, output);
	}
}
