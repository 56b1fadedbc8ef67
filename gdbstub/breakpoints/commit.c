/* SPDX-License-Identifier: BSD-2-Clause */
/* Making what is in place equal to what is wanted. */
#include "gdbstub/breakpoints/commit.h"

#include "gdbstub/locations/location.h"

#include <errno.h>

#include "gdbstub/base/log.h"
#include "gdbstub/inferior/memory.h"
#include "gdbstub/breakpoints/choice.h"
#include "gdbstub/text/trap_inspection.h"
#include "gdbstub/breakpoints/install.h"
#include "gdbstub/control/control.h"
#include "gdbstub/locations/planted_bytes.h"
#include "gdbstub/pads/pads.h"
#include "gdbstub/breakpoints/share.h"
#include "gdbstub/text/trap.h"
#include "gdbstub/text/traps.h"
#include "gdbstub/breakpoints/watch.h"

/* Watchpoints have little choice. */
static bool is_chosen_otherwise(const struct location *location)
{
	return location->type <= BREAKPOINT_HARDWARE &&
	       location->choice != location->inferior->breakpoints->engines->choice;
}

/* A trap of ours from before there were uprobes. */
static bool meets_uprobes(const struct location *location)
{
	return location->engine->ops->own_traps && !location->among_uprobes &&
	       choice_among_uprobes(location->inferior);
}

/* One that was to stop at each hit ignores some now: the kernel may be quicker at that.
 * It stays there when it stops again. */
static bool passes_hits_now(const struct location *location)
{
	return location->type == BREAKPOINT_SOFTWARE && !location->passes_hits &&
	       choice_passes_hits(location);
}

bool location_is_outdated(const struct location *location)
{
	if (location->state == LOCATION_OUT)
		return false;
	return is_chosen_otherwise(location) || meets_uprobes(location) ||
	       passes_hits_now(location) || watch_is_outdated(location) ||
	       (location->engine->ops->outdated &&
		location->engine->ops->outdated(location->engine, location));
}

/* A library may have been unloaded, of which clients say nothing: what was in it is
 * nobody's business any more, however outdated. What is switched off may have changed.
 */
static bool is_there(const struct location *location)
{
	uint8_t byte;

	if (!location->trap || location->state == LOCATION_OUT)
		return true;
	if (location->state == LOCATION_IN)
		return trap_is_code(location);
	return inferior_read(location->inferior, location->addr, &byte, 1) == 1;
}

static bool must_move(const struct location *location)
{
	return location_is_outdated(location) && is_there(location);
}

static bool must_come_anew(const struct location *location)
{
	return traps_must_move(location) || must_move(location);
}

/* To look for what was switched off, before it is switched on again, only pays where
 * others run, who would have to be halted for that. */
static bool is_due(const struct location *location)
{
	return location->wanted && location->state == LOCATION_SUSPENDED &&
	       !location->inferior->breakpoints->engines->others_run;
}

/* Has a wanted location yet to be put in place? */
static bool needs_commit(const struct location *location)
{
	return location->wanted &&
	       (location->state != LOCATION_IN ? is_there(location)
					       : must_come_anew(location)) &&
	       !location_must_stay_off(location);
}

static bool need_commit(const struct breakpoints *breakpoints, bool only_unwanted)
{
	const struct location *location;

	if (breakpoints->any_doubtful)
		return true;
	TAILQ_FOREACH (location, &breakpoints->locations, link) {
		if (!location->wanted ||
		    (!only_unwanted && (is_due(location) || needs_commit(location))))
			return true;
	}
	return false;
}

bool breakpoints_need_commit(const struct breakpoints *breakpoints)
{
	const struct inferior *inferior = breakpoints->inferior;
	struct inferior *other;

	FOREACH_SHARING (other, inferior) {
		if (other->breakpoints &&
		    need_commit(other->breakpoints, other != inferior))
			return true;
	}
	return false;
}

/* What is switched on reads the memory itself: to look first whether it is there would
 * take a system call more at each resume. */
static struct error *switch_on(struct breakpoints *breakpoints,
			       struct location *location)
{
	_cleanup_error_ struct error *error = location_switch(location, LOCATION_IN);

	if (error && error_errno(error) == ESTALE) {
		location_take_out(location, false);
		return location_install(breakpoints, location);
	}
	return error && is_there(location) ? take_ptr(error) : NULL;
}

static struct error *location_commit(struct breakpoints *breakpoints,
				     struct location *location)
{
	if (location->wanted && location->state == LOCATION_SUSPENDED &&
	    !location_is_outdated(location) && !traps_must_move(location) &&
	    !location_must_stay_off(location))
		return switch_on(breakpoints, location);
	if (!needs_commit(location))
		return NULL;
	if (must_come_anew(location))
		location_take_out(location, false);
	if (location->state == LOCATION_OUT)
		return location_install(breakpoints, location);
	return switch_on(breakpoints, location);
}

struct error *location_switch_on(struct breakpoints *breakpoints,
				 struct location *location)
{
	return location->state == LOCATION_SUSPENDED &&
			       !breakpoints->engines->others_run
		       ? location_commit(breakpoints, location)
		       : NULL;
}

bool locations_are_outdated(const struct breakpoints *breakpoints)
{
	const struct location *location;

	TAILQ_FOREACH (location, &breakpoints->locations, link) {
		if (location->state == LOCATION_IN && must_move(location))
			return true;
	}
	return false;
}

void locations_move_outdated(struct breakpoints *breakpoints)
{
	_cleanup_error_ struct error *lost = NULL;
	struct location *location;
	bool any = false;

	TAILQ_FOREACH (location, &breakpoints->locations, link) {
		_cleanup_error_ struct error *error = NULL;

		if (location->state != LOCATION_IN || !must_move(location))
			continue;
		any = true;
		location_take_out(location, false);
		if (location->wanted)
			error = location_install(breakpoints, location);
		if (error)
			log_warning("%s *0x%jx is lost: %s",
				    breakpoint_type_name(location->type),
				    (uintmax_t)location->addr, error_text(error));
	}
	lost = locations_settle_jumps(breakpoints);
	if (lost)
		log_warning("a breakpoint is lost: %s", error_text(lost));
	if (!any)
		return;
	pads_are_made(breakpoints->inferior);
	traps_update_shadow(breakpoints, false);
}

static struct error *drop_unwanted(struct breakpoints *breakpoints, bool stepping,
				   bool *slots_freed)
{
	struct location *location;
	struct error *error = NULL;

	if (!stepping)
		*slots_freed |= locations_drop_unwanted(breakpoints);
	breakpoints_look_at_unwanted(breakpoints);
	TAILQ_FOREACH (location, &breakpoints->locations, link) {
		if (!error && !location->wanted && location->state == LOCATION_IN)
			error = location_switch(location, LOCATION_SUSPENDED);
		location->seen = false;
	}
	return error;
}

/* Of those who share the memory: the client's. */
static bool is_committed_with(const struct inferior *other,
			      const struct inferior *inferior)
{
	return other->breakpoints &&
	       (other == inferior ||
		(!other->control->hidden && !other->control->pending_stop));
}

static struct error *commit_locations(struct breakpoints *breakpoints)
{
	struct location *location;
	struct error *error = NULL;

	TAILQ_FOREACH (location, &breakpoints->locations, link) {
		if (!error)
			error = location_commit(breakpoints, location);
	}
	if (!error)
		error = locations_settle_jumps(breakpoints);
	pads_are_made(breakpoints->inferior);
	return error;
}

static struct error *commit_sharing(const struct inferior *inferior)
{
	struct inferior *other;
	struct error *error = NULL;

	FOREACH_SHARING (other, inferior) {
		if (!error && is_committed_with(other, inferior))
			error = commit_locations(other->breakpoints);
	}
	return error;
}

/*
 * A trap goes when nobody wants it who shares the memory: what is unwanted goes
 * everywhere, before anything comes. What comes does so for all, as each of them may
 * leave the memory, and its traps go then.
 */
struct error *breakpoints_commit(struct breakpoints *breakpoints, bool stepping)
{
	const struct inferior *inferior = breakpoints->inferior;
	struct inferior *other;
	struct error *error = NULL;
	bool slots_freed = false, among_uprobes;

	FOREACH_SHARING (other, inferior) {
		if (!error && other->breakpoints)
			error = drop_unwanted(other->breakpoints, stepping,
					      &slots_freed);
	}
	if (slots_freed)
		share_part(breakpoints);
	among_uprobes = choice_among_uprobes(inferior);
	if (!error)
		error = commit_sharing(inferior);
	/* Traps from before the first uprobe become uprobes. */
	if (!error && !among_uprobes && choice_among_uprobes(inferior))
		error = commit_sharing(inferior);
	traps_update_shadow(breakpoints, stepping);
	return error;
}
