/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/breakpoints/share.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/base/log.h"
#include "gdbstub/locations/carrier.h"
#include "gdbstub/breakpoints/install.h"
#include "gdbstub/locations/location.h"
#include "gdbstub/breakpoints/slots.h"
#include "gdbstub/breakpoints/watch.h"

enum {
	BLOCK = 8, /* so many aligned bytes one slot can watch, on every processor */
	SPAN_MAX = HW_SLOTS_MAX * BLOCK,
};

/* The engine's state. */
LIST_HEAD(share_list, share);

/* ---- the carrier ---- */

static struct error *carrier_insert(struct share *share)
{
	struct location *carrier = &share->carrier;
	struct engines *engines = carrier->inferior->breakpoints->engines;
	struct error *error = error_create(ENOSPC, "no engine for a shared slot");

	for (int i = ENGINE_PERF_EVENT; error && i <= ENGINE_DEBUGREG; i++) {
		struct engine *engine = &engines->engine[i];

		if (engine->unusable)
			continue;
		error_destroy(error);
		error = engine->ops->insert(engine, carrier);
		carrier->engine = engine;
		carrier->state = error ? LOCATION_OUT : LOCATION_IN;
	}
	return error;
}

static void carrier_remove(struct share *share, bool gone)
{
	struct location *carrier = &share->carrier;

	if (carrier->state != LOCATION_OUT)
		carrier->engine->ops->remove(carrier->engine, carrier, gone);
	carrier->state = LOCATION_OUT;
}

static void share_destroy(struct share *share)
{
	LIST_REMOVE(share, link);
	free(share);
}

/* ---- who shares ---- */

/* One of two that are to share: a location alone, or one with those that it shares
 * with already. */
struct half {
	struct location *location;
	struct share *share; /* or NULL */
	bool was_in;
};

static struct half half_of(struct location *location)
{
	return (struct half){location, share_of(location),
			     location->state != LOCATION_OUT};
}

static const struct location *half_region(const struct half *half)
{
	return half->share ? &half->share->carrier : half->location;
}

static void half_take_out(const struct half *half)
{
	if (half->share)
		carrier_remove(half->share, false);
	else
		location_take_out(half->location, false);
}

static void half_put_back(const struct half *half, struct breakpoints *breakpoints)
{
	_cleanup_error_ struct error *error = NULL;

	if (half->share)
		error = carrier_insert(half->share);
	else if (half->was_in)
		error = location_put_in(breakpoints, half->location);
	if (error)
		log_warning("watchpoint at 0x%jx is lost: %s",
			    (uintmax_t)half->location->addr, error_text(error));
}

static void add_members(struct share *share, const struct half *half)
{
	unsigned int count = half->share ? half->share->count : 1;
	struct location *const *members =
		half->share ? half->share->member : &half->location;

	for (unsigned int i = 0; i < count; i++)
		share->member[share->count++] = members[i];
}

/* They share now, and not what they had before. */
static void settle(struct engine *engine, struct share *share, struct half *a,
		   struct half *b)
{
	LIST_INSERT_HEAD((struct share_list *)engine->state, share, link);
	for (unsigned int i = 0; i < share->count; i++) {
		struct location *member = share->member[i];

		member->engine = engine;
		member->engine_data = share;
		member->state = LOCATION_IN;
		free(member->why);
		member->why = strdup("no hardware slot is free, so it shares one");
	}
	if (a->share)
		share_destroy(a->share);
	if (b->share)
		share_destroy(b->share);
}

/* False: the slots do not suffice for that either; nothing has changed. */
static bool join(struct breakpoints *breakpoints, struct half *a, struct half *b,
		 const struct location *carrier)
{
	struct engine *engine = &breakpoints->engines->engine[ENGINE_SHARED];
	struct share *share = calloc(1, sizeof(*share));
	_cleanup_error_ struct error *error = NULL;

	if (!share)
		return false;
	share->carrier = *carrier;
	add_members(share, a);
	add_members(share, b);
	half_take_out(a);
	half_take_out(b);
	error = carrier_insert(share);
	if (!error) {
		settle(engine, share, a, b);
		return true;
	}
	half_put_back(a, breakpoints);
	half_put_back(b, breakpoints);
	free(share);
	return false;
}

static unsigned int half_count(const struct half *half)
{
	return half->share ? half->share->count : 1;
}

static uint64_t end_of(const struct location *location)
{
	return location->addr + location->len;
}

/*
 * Is there a carrier for both that saves a slot? It may watch bytes between and around
 * them, as hits that change neither are nobody's; but no more than it has to.
 */
static bool saves(const struct half *a, const struct half *b, struct location *carrier)
{
	const struct location *x = half_region(a), *y = half_region(b);
	uint64_t start = x->addr < y->addr ? x->addr : y->addr;
	uint64_t end = end_of(x) > end_of(y) ? end_of(x) : end_of(y);
	struct location wide;

	if (x == y || end - start > SPAN_MAX ||
	    half_count(a) + half_count(b) > SHARE_MEMBERS_MAX)
		return false;
	*carrier = (struct location){.inferior = x->inferior,
				     .type = WATCHPOINT_WRITE,
				     .addr = start,
				     .len = (unsigned int)(end - start)};
	wide = *carrier;
	wide.addr = start / BLOCK * BLOCK;
	wide.len = (unsigned int)((end + BLOCK - 1) / BLOCK * BLOCK - wide.addr);
	if (slots_needed(&wide) < slots_needed(carrier))
		*carrier = wide;
	return slots_needed(carrier) < slots_needed(x) + slots_needed(y);
}

static bool may_share(const struct location *location, const struct location *newcomer)
{
	return location->wanted && location->watch.filters &&
	       (location->state != LOCATION_OUT || location == newcomer);
}

bool share_two(struct breakpoints *breakpoints, struct location *newcomer)
{
	struct location *first, *second, carrier;

	if (breakpoints->engines->engine[ENGINE_SHARED].unusable)
		return false;
	TAILQ_FOREACH (first, &breakpoints->locations, link) {
		if (!may_share(first, newcomer))
			continue;
		for (second = TAILQ_NEXT(first, link); second;
		     second = TAILQ_NEXT(second, link)) {
			struct half a = half_of(first), b = half_of(second);

			if (may_share(second, newcomer) && saves(&a, &b, &carrier) &&
			    join(breakpoints, &a, &b, &carrier))
				return true;
		}
	}
	return false;
}

void share_part(struct breakpoints *breakpoints)
{
	struct location *location;

	TAILQ_FOREACH (location, &breakpoints->locations, link) {
		if (share_of(location))
			location_take_out(location, false);
	}
}

/* ---- the engine ---- */

static void shared_remove(struct engine *engine, struct location *location, bool gone)
{
	struct share *share = location->engine_data;
	unsigned int kept = 0;

	(void)engine;
	for (unsigned int i = 0; i < share->count; i++)
		if (share->member[i] != location)
			share->member[kept++] = share->member[i];
	share->count = kept;
	location->engine_data = NULL;
	if (kept > 0)
		return;
	carrier_remove(share, gone);
	share_destroy(share);
}

/* The carrier is off as long as all are. */
static int shared_suspend(struct engine *engine, struct location *location)
{
	struct share *share = location->engine_data;
	struct location *carrier = &share->carrier;

	(void)engine;
	for (unsigned int i = 0; i < share->count; i++)
		if (share->member[i] != location &&
		    share->member[i]->state == LOCATION_IN)
			return 0;
	carrier->state = LOCATION_SUSPENDED;
	return carrier->engine->ops->suspend(carrier->engine, carrier);
}

static int shared_resume(struct engine *engine, struct location *location)
{
	struct share *share = location->engine_data;
	struct location *carrier = &share->carrier;

	(void)engine;
	if (carrier->state == LOCATION_IN)
		return 0;
	carrier->state = LOCATION_IN;
	return carrier->engine->ops->resume(carrier->engine, carrier);
}

static bool shared_outdated(struct engine *engine, const struct location *location)
{
	const struct location *carrier = share_carrier(location);
	struct engine *other = carrier->engine;

	(void)engine;
	return other->ops->outdated && other->ops->outdated(other, carrier);
}

static int shared_thread_added(struct engine *engine, struct location *location,
			       struct thread *thread)
{
	struct share *share = location->engine_data;
	struct engine *other = share->carrier.engine;

	(void)engine;
	if (!share_leads(location) || !other->ops->thread_added)
		return 0;
	return other->ops->thread_added(other, &share->carrier, thread);
}

static const struct share *find_by_carrier(const struct engine *engine,
					   const struct location *carrier)
{
	const struct share_list *list = engine->state;
	const struct share *share;

	LIST_FOREACH (share, list, link)
		if (&share->carrier == carrier)
			return share;
	return NULL;
}

static void add_hit(struct hits *hits, const struct hit *hit)
{
	if (hits->count < HITS_MAX)
		hits->hit[hits->count++] = *hit;
	else
		log_warning("more than %d breakpoints hit at once", HITS_MAX);
}

/* What other engines know of carriers may be a hit of each of those that share. */
static void shared_on_stop(struct engine *engine, const struct event *event,
			   struct hits *hits)
{
	const struct hits seen = *hits;

	(void)event;
	hits->count = 0;
	for (unsigned int i = 0; i < seen.count; i++) {
		const struct share *share =
			find_by_carrier(engine, seen.hit[i].location);

		if (!share)
			add_hit(hits, &seen.hit[i]);
		for (unsigned int j = 0; share && j < share->count; j++) {
			const struct hit hit = {.location = share->member[j],
						.verdict = HIT_SHARED};

			if (hit.location->state == LOCATION_IN)
				add_hit(hits, &hit);
		}
	}
}

static void shared_describe(struct engine *engine, const struct location *location,
			    struct buffer *out)
{
	(void)engine;
	buffer_printf(out, "%s; its slots are shared",
		      watch_tells_all(location) ? "gdb" : "stub");
}

static struct error *shared_probe(struct engine *engine)
{
	struct share_list *list;

	if (arch_native()->stores)
		return error_create(0, "hits come before the access here, so that what "
				       "it changes is not known yet");
	list = malloc(sizeof(*list));
	if (!list)
		return error_create(ENOMEM, "shared slots");
	LIST_INIT(list);
	engine->state = list;
	return NULL;
}

static void shared_deinit(struct engine *engine)
{
	struct share_list *list = engine->state;

	while (!LIST_EMPTY(list))
		share_destroy(LIST_FIRST(list));
	free(list);
	engine->state = NULL;
}

/* Locations come in by share_two only. */
const struct engine_ops shared_engine = {
	.name = "shared",
	.by_slots = true,
	.shares = true,
	.title =
		"slots that several write watchpoints share, all hits seen by the stub",
	.probe = shared_probe,
	.deinit = shared_deinit,
	.remove = shared_remove,
	.suspend = shared_suspend,
	.resume = shared_resume,
	.outdated = shared_outdated,
	.thread_added = shared_thread_added,
	.on_stop = shared_on_stop,
	.describe = shared_describe,
};
