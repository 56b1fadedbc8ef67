/* SPDX-License-Identifier: BSD-2-Clause */
/* Putting a location in, giving slots away. */
#include "gdbstub/breakpoints/install.h"

#include "gdbstub/locations/location.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/base/log.h"
#include "gdbstub/breakpoints/choice.h"
#include "gdbstub/locations/index.h"
#include "gdbstub/locations/planted_bytes.h"
#include "gdbstub/breakpoints/share.h"
#include "gdbstub/breakpoints/slots.h"
#include "gdbstub/text/trap.h"
#include "gdbstub/text/traps.h"
#include "gdbstub/breakpoints/watch.h"

/* Locations: several are closed at a time about as fast as one
 * (bpf/kernel/background_close.h). */
enum { GIVEN_BACK_AT_ONCE = 64 };

static bool is_shortage(const struct error *error)
{
	int err = error ? error_errno(error) : 0;

	return err == EMFILE || err == ENFILE || err == ENOBUFS;
}

/*
 * Of what nobody wants now, some is taken out: the client removes all its breakpoints
 * at a stop, and most of them come again. May there be room now? Thousands of locations
 * are not gone through for each one that there is no room for.
 */
static bool give_back_some(struct breakpoints *breakpoints)
{
	unsigned int count = 0;
	struct location *location;

	if (!breakpoints->any_unwanted)
		return false;
	TAILQ_FOREACH (location, &breakpoints->locations, link) {
		if (location->wanted || location->state == LOCATION_OUT ||
		    !location->engine->ops->give_back || count == GIVEN_BACK_AT_ONCE)
			continue;
		location_take_out(location, false);
		count++;
	}
	breakpoints->any_unwanted = count > 0;
	engines_give_back(breakpoints->engines);
	return true;
}

static struct error *insert_by(struct breakpoints *breakpoints,
			       struct location *location, struct engine *engine)
{
	struct error *error = engine->ops->insert(engine, location);

	while (is_shortage(error) && give_back_some(breakpoints)) {
		error_destroy(error);
		error = engine->ops->insert(engine, location);
	}
	return error;
}

static struct error *put_in_by(struct breakpoints *breakpoints,
			       struct location *location, int index)
{
	struct engine *engine = &breakpoints->engines->engine[index];
	struct error *error;

	if (engine->unusable)
		return error_create(EOPNOTSUPP, "%s cannot be used", engine->ops->name);
	if (index == ENGINE_INT3)
		engines_settle(breakpoints->engines);
	location->among_uprobes = choice_among_uprobes(location->inferior);
	error = insert_by(breakpoints, location, engine);
	if (!error) {
		breakpoints->uprobed |= engine->ops->kernel_traps;
		location->choice = breakpoints->engines->choice;
		location->passes_hits = choice_passes_hits(location);
		location->engine = engine;
		location->state = LOCATION_IN;
		traps_changed(location);
	}
	return error;
}

/* Software breakpoints have int3, which is always usable. */
static struct error *no_engine(const struct breakpoints *breakpoints,
			       const struct location *location)
{
	const char *why = engines_no_slots(breakpoints->engines);

	return error_create(0, "no engine can serve %s%s%s",
			    breakpoint_type_name(location->type), why ? ": " : "",
			    why ? why : "");
}

static struct error *put_in_by_choice(struct breakpoints *breakpoints,
				      struct location *location)
{
	int choices[NENGINES];
	unsigned int n = choice_list(breakpoints->engines, location, choices);
	_cleanup_error_ struct error *first = NULL;

	watch_init(location);
	for (unsigned int i = 0; i < n; i++) {
		struct error *error;

		if (breakpoints->engines->engine[choices[i]].unusable)
			continue;
		error = put_in_by(breakpoints, location, choices[i]);
		if (!error) {
			location->why = first && error_errno(first) != EOPNOTSUPP
						? strdup(error_text(first))
						: NULL;
			return NULL;
		}
		if (first)
			error_destroy(error);
		else
			first = error;
	}
	if (!first)
		return no_engine(breakpoints, location);
	return take_ptr(first);
}

struct error *location_put_in(struct breakpoints *breakpoints,
			      struct location *location)
{
	const bool padless = location->padless;
	struct error *error = put_in_by_choice(breakpoints, location);

	if (error || location->padless == padless)
		return error;
	/* Its engine was chosen for the sake of a pad, which it cannot have. */
	location_take_out(location, false);
	return put_in_by_choice(breakpoints, location);
}

/* Serves a software location without a slot. */
static struct error *put_in_text(struct breakpoints *breakpoints,
				 struct location *location)
{
	int choices[NENGINES];
	unsigned int n = choice_list(breakpoints->engines, location, choices);
	struct error *error = NULL;

	for (unsigned int i = 0; i < n; i++) {
		if (choices[i] != ENGINE_UPROBE && choices[i] != ENGINE_INT3)
			continue;
		error_destroy(error);
		error = put_in_by(breakpoints, location, choices[i]);
		if (!error)
			break;
	}
	return error;
}

/* A software location in hardware gives its slot to one that has no choice. */
static bool demote_one(struct breakpoints *breakpoints)
{
	struct location *location;

	TAILQ_FOREACH (location, &breakpoints->locations, link) {
		_cleanup_error_ struct error *error = NULL;

		if (location->type != BREAKPOINT_SOFTWARE ||
		    choice_needs_slot(location) || !location_uses_hardware(location))
			continue;
		location_take_out(location, false);
		if (location->wanted)
			error = put_in_text(breakpoints, location);
		if (error)
			log_warning("breakpoint at 0x%jx is lost: %s",
				    (uintmax_t)location->addr, error_text(error));
		else if (location->wanted)
			location->why = strdup("gave its hardware slot away");
		return true;
	}
	return false;
}

/* The slots of what nobody wants now. The client may want it again at once, so the
 * locations themselves stay. */
static bool free_unwanted_slots(struct breakpoints *breakpoints)
{
	struct location *location;
	bool freed = false;

	TAILQ_FOREACH (location, &breakpoints->locations, link) {
		if (location->wanted || !location_uses_hardware(location))
			continue;
		location_take_out(location, false);
		freed = true;
	}
	return freed;
}

/* gdb tells its user nothing of the text for a watchpoint: it is kept to be asked for.
 */
static struct error *refuse(struct breakpoints *breakpoints,
			    const struct location *location, struct error *error)
{
	error_destroy(error);
	error = slots_error(location);
	free(breakpoints->refusal);
	breakpoints->refusal = strdup(error_text(error));
	return error;
}

void breakpoints_forget_refusal(struct breakpoints *breakpoints)
{
	free(take_ptr(breakpoints->refusal));
}

/* Where a hit stops the thread, which the kernel then sends to the start of a sequence.
 * The engine of uprobes has looked already. */
static void look_for_sequence(struct location *location)
{
	const struct engine_ops *ops = location->engine->ops;

	if (!ops->drops_in_place && !ops->kernel_traps && choice_passes_hits(location))
		sequences_cover(location, NULL);
}

/* In a restartable sequence a slot is worth more than elsewhere. */
static struct error *insist_on_slot(struct breakpoints *breakpoints,
				    struct location *location)
{
	_cleanup_buffer_ struct buffer text = {0};
	struct error *error = NULL;

	look_for_sequence(location);
	while (!error && choice_restarts(location) &&
	       location->choice != CHOOSE_PTRACE && !location_uses_hardware(location) &&
	       (free_unwanted_slots(breakpoints) || demote_one(breakpoints))) {
		location_take_out(location, false);
		error = location_put_in(breakpoints, location);
	}
	if (!error && choice_restarts(location)) {
		buffer_printf(&text, "%s *0x%jx is served by %s: %s",
			      breakpoint_type_name(location->type),
			      (uintmax_t)location->addr, location->engine->ops->name,
			      choice_restarts(location));
		inferior_warn(location->inferior, buffer_string(&text));
	}
	return error;
}

static bool is_in_jump(const struct location *location, const struct location *other)
{
	if (other->state == LOCATION_OUT || !other->trap || !trap_is_jump(other) ||
	    !trap_is_code(other)) /* a library was unloaded, and it with it */
		return false;
	if (location->addr == other->addr)
		return location->inferior != other->inferior;
	return location->addr - other->addr < other->trap_span;
}

/* The first one to whose pad a jump leads that the location would be in, or NULL. */
static struct location *find_jump(const struct location *location)
{
	const struct inferior *sharing;
	struct index_walk walk;

	FOREACH_SHARING (sharing, location->inferior) {
		struct location *other =
			sharing->breakpoints
				? index_begin_near(&walk, sharing->breakpoints,
						   location->addr, 1, TRAP_CODE_MAX)
				: NULL;

		while (other && !is_in_jump(location, other))
			other = index_next(&walk);
		if (other)
			return other;
	}
	return NULL;
}

/* Where another location is to be, no jump may be, whose pad has a copy of what is
 * there. The last one comes first in the list. */
static void make_way(const struct location *location, struct location_list *away)
{
	struct location *other, *before;

	while (location->type <= BREAKPOINT_HARDWARE && (other = find_jump(location))) {
		location_take_out(other, false);
		before = TAILQ_FIRST(away);
		while (before && before->addr > other->addr)
			before = TAILQ_NEXT(before, way_link);
		if (before)
			TAILQ_INSERT_BEFORE(before, other, way_link);
		else
			TAILQ_INSERT_TAIL(away, other, way_link);
	}
}

/* By jumps that end with what is there now. */
static void come_back(struct location_list *away)
{
	struct location *location;

	TAILQ_FOREACH (location, away, way_link) {
		_cleanup_error_ struct error *error =
			location->wanted && !location_must_stay_off(location)
				? location_put_in(location->inferior->breakpoints,
						  location)
				: NULL;

		if (error)
			log_warning("%s *0x%jx is lost: %s",
				    breakpoint_type_name(location->type),
				    (uintmax_t)location->addr, error_text(error));
	}
}

static struct error *install(struct breakpoints *breakpoints, struct location *location)
{
	struct error *error = location_put_in(breakpoints, location);

	if (!error && location->type == BREAKPOINT_SOFTWARE)
		return insist_on_slot(breakpoints, location);
	if (location->type == BREAKPOINT_SOFTWARE)
		return error;
	if (error && error_errno(error) == ENOSPC && free_unwanted_slots(breakpoints)) {
		error_destroy(error);
		error = location_put_in(breakpoints, location);
	}
	while (error && error_errno(error) == ENOSPC && slots_may_suffice(location) &&
	       demote_one(breakpoints)) {
		error_destroy(error);
		error = location_put_in(breakpoints, location);
	}
	while (error && error_errno(error) == ENOSPC &&
	       share_two(breakpoints, location)) {
		error_destroy(error);
		error = location->state == LOCATION_OUT
				? location_put_in(breakpoints, location)
				: NULL;
	}
	if (error && error_errno(error) == ENOSPC)
		return refuse(breakpoints, location, error);
	return error;
}

struct error *location_install(struct breakpoints *breakpoints,
			       struct location *location)
{
	struct location_list away = TAILQ_HEAD_INITIALIZER(away);
	struct error *error;

	make_way(location, &away);
	error = install(breakpoints, location);
	come_back(&away);
	return error;
}

static struct error *settle_jump(struct location *location)
{
	location->doubtful = false;
	if (location->state != LOCATION_IN || !location->trap ||
	    trap_is_planted(location) || !trap_is_code(location))
		return NULL;
	location_take_out(location, false);
	return location->wanted
		       ? location_put_in(location->inferior->breakpoints, location)
		       : NULL;
}

/* What is made anew changes the ends of those before it only, so this ends. */
struct error *locations_settle_jumps(struct breakpoints *breakpoints)
{
	struct location *location;
	struct error *error = NULL;

	while (!error && breakpoints->any_doubtful) {
		breakpoints->any_doubtful = false;
		TAILQ_FOREACH (location, &breakpoints->locations, link)
			if (!error && location->doubtful)
				error = settle_jump(location);
	}
	breakpoints->any_doubtful |= error != NULL;
	return error;
}

void locations_put_in_again(struct breakpoints *breakpoints)
{
	_cleanup_error_ struct error *lost = NULL;
	struct location *location;

	TAILQ_FOREACH (location, &breakpoints->locations, link) {
		_cleanup_error_ struct error *error = NULL;

		if (!location->wanted || location->state != LOCATION_OUT ||
		    location_must_stay_off(location))
			continue;
		error = location_install(breakpoints, location);
		if (error)
			log_warning("%s *0x%jx is lost: %s",
				    breakpoint_type_name(location->type),
				    (uintmax_t)location->addr, error_text(error));
	}
	lost = locations_settle_jumps(breakpoints);
	if (lost)
		log_warning("a breakpoint is lost: %s", error_text(lost));
}
