/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/hits/hit.h"

#include <string.h>

#include "gdbstub/inferior/registers.h"
#include "gdbstub/breakpoints/breakpoints.h"
#include "gdbstub/hits/evaluate.h"
#include "gdbstub/locations/handed_counts.h"
#include "gdbstub/locations/ignore.h"
#include "gdbstub/locations/index.h"
#include "gdbstub/hits/look_after.h"
#include "gdbstub/hits/step_over.h"
#include "gdbstub/text/text.h"
#include "gdbstub/text/traps.h"
#include "gdbstub/hits/unexplained.h"
#include "gdbstub/breakpoints/watch.h"

void hits_collect(struct engines *engines, const struct event *event, struct hits *hits)
{
	*hits = (struct hits){0};
	for (int i = 0; i < NENGINES; i++) {
		struct engine *engine = &engines->engine[i];

		if (!engine->unusable)
			engine->ops->on_stop(engine, event, hits);
	}
	unexplained_collect(event, hits);
}

/* Is it known that the value has changed? */
static bool is_sure(const struct hit *hit)
{
	return hit->values.len == 0 ||
	       memcmp(hit->values.old, hit->values.new, hit->values.len) != 0;
}

/* Is it true, and not ignored? */
static bool hit_matters(struct hit *hit, struct thread *thread)
{
	struct location *location = hit->location;
	struct hit_counts counts = {.hits = hit->verdict != HIT_MAYBE};

	if (hit->verdict == HIT_TRUE) {
		/* In the kernel it was counted, and passed the gate. */
		if (hit->before)
			watch_changed(hit);
		return true;
	}
	counts.trues = hit->late ||
		       (watch_changed(hit) &&
			evaluate_conditions(location, thread, breakpoints_read_memory));
	/* What the client may have missed before is told, but is no hit of now. */
	if (hit->verdict != HIT_SHARED || is_sure(hit))
		counts_add(&location->counts, thread->tid, &counts);
	if (!counts.trues || !gate_ignores(ignore_gate(location)))
		return counts.trues;
	watch_ignored(location);
	return false;
}

/*
 * Before gdb 18 a stop names one watched address, and gdb looks only at watchpoints
 * that have it (breakpoint.c, watchpoints_triggered). Of two that overlap, both have
 * the higher one's.
 */
static bool is_better(const struct location *first, const struct location *other)
{
	return first->type > BREAKPOINT_HARDWARE && other->type > BREAKPOINT_HARDWARE &&
	       other->addr > first->addr && other->addr - first->addr < first->len;
}

static const struct hit *choose(const struct hit *first, const struct hit *other)
{
	bool better = !first || (is_sure(first) == is_sure(other)
					 ? is_better(first->location, other->location)
					 : is_sure(other));

	return better ? other : first;
}

/* Has the stop room for the other one, too? */
static bool goes_along(const struct hit *other, const struct hit *told)
{
	return other->location->type > BREAKPOINT_HARDWARE && !other->late &&
	       told->location->type > BREAKPOINT_HARDWARE && !told->late;
}

/* What is not told as such may be told all the same, by the chosen one's address
 * (watch_told). */
static void leave_others_untold(struct hits *hits, const struct hit *told,
				bool all_watches)
{
	for (unsigned int i = 0; i < hits->count; i++) {
		struct hit *hit = &hits->hit[i];

		if (!hit->told || hit == told || (all_watches && goes_along(hit, told)))
			continue;
		hit->told = false;
		watch_untold(hit->location);
	}
}

static void step_over_for_look(struct thread *thread, const struct hits *hits)
{
	for (unsigned int i = 0; i < hits->count; i++) {
		if (look_is_needed(&hits->hit[i]))
			step_over_look(thread, hits->hit[i].location);
	}
}

/* Hits that are decided after the access: it is made, unless the client is told of
 * another one that comes before it. Then it makes a step, and decides itself. */
static void look_later(struct hits *hits, struct thread *thread, const struct hit *told)
{
	if (!told) {
		if (look_begin(thread, hits))
			step_over_for_look(thread, hits);
		return;
	}
	look_forget(thread);
	for (unsigned int i = 0; i < hits->count; i++) {
		struct location *location = hits->hit[i].location;
		struct hit_counts counts = {.hits = hits->hit[i].verdict != HIT_MAYBE,
					    .trues = 1};

		if (!look_is_needed(&hits->hit[i]))
			continue;
		if (hits->hit[i].verdict != HIT_TRUE)
			counts_add(&location->counts, thread->tid, &counts);
		hits->hit[i].told = true;
	}
}

const struct hit *hits_evaluate(struct hits *hits, struct thread *thread,
				const struct output *output, bool all_watches)
{
	const struct hit *told = NULL;
	bool later = false;

	for (unsigned int i = 0; i < hits->count; i++) {
		struct location *location = hits->hit[i].location;

		later |= look_is_needed(&hits->hit[i]);
		/* Every hit is evaluated, so that every one is counted. */
		if (look_is_needed(&hits->hit[i]) ||
		    !hit_matters(&hits->hit[i], thread))
			continue;
		if (location->commands.list.count > 0 && !hits->hit[i].late) {
			evaluate_commands(location, thread, output);
			continue;
		}
		hits->hit[i].told = true;
		told = choose(told, &hits->hit[i]);
	}
	if (later)
		look_later(hits, thread, told);
	/* It is shown as it is, or nobody is told of it. */
	else if (look_has_ended(thread) && (!told || !told->before))
		look_forget(thread);
	leave_others_untold(hits, told, all_watches);
	return told;
}

void hits_pass(const struct hits *hits, struct thread *thread)
{
	for (unsigned int i = 0; i < hits->count; i++) {
		struct engine *engine = hits->hit[i].location->engine;

		if (engine->ops->pass)
			engine->ops->pass(engine, thread);
	}
}

void hits_stepped_to(struct thread *thread, const struct output *output)
{
	struct location *location;
	struct index_walk walk;
	uint64_t pc;

	if (thread_get_pc(thread, &pc) < 0)
		return;
	for (location = index_begin(&walk, thread->inferior->breakpoints, pc, pc);
	     location; location = index_next(&walk)) {
		struct hit hit = {.location = location, .verdict = HIT_PLAIN};

		if (location->type <= BREAKPOINT_HARDWARE &&
		    location->state == LOCATION_IN &&
		    location->commands.list.count > 0 && hit_matters(&hit, thread))
			evaluate_commands(location, thread, output);
	}
}

bool hits_stepped_to_counted(struct thread *thread)
{
	struct hit hit = {.verdict = HIT_PLAIN};
	uint64_t pc;

	if (thread_get_pc(thread, &pc) < 0)
		return false;
	hit.location = handed_count_at(thread->inferior->breakpoints, pc);
	if (!hit.location)
		return false;
	return hit.location->state == LOCATION_IN || !hit_matters(&hit, thread);
}
