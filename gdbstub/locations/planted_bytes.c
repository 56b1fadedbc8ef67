/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/locations/planted_bytes.h"

#include <stdlib.h>

#include "arch/native.h"
#include "gdbstub/base/cleanup.h"
#include "gdbstub/locations/index.h"

_Static_assert((int)NATIVE_GAPS == (int)SHADOW_GAPS, "filters see all gaps");

void planted_bytes_tell_filters(const struct inferior *inferior)
{
	const struct shadow *shadow = &inferior->breakpoints->engines->shadow;
	struct native_shared *filters = inferior->filter_shadow;

	filters->start = shadow->all.start;
	filters->end = shadow->all.end;
	for (int i = 0; i < SHADOW_GAPS; i++) {
		filters->gaps[i].start = shadow->gaps[i].start;
		filters->gaps[i].end = shadow->gaps[i].end;
	}
}

static void tell(const struct engines *engines, const struct inferiors *inferiors)
{
	const struct inferior *inferior;

	if (engines->kernel_side)
		engines->kernel_side->set_shadow(engines->placements, &engines->shadow);
	TAILQ_FOREACH (inferior, &inferiors->list, link)
		if (inferior->filter_shadow)
			planted_bytes_tell_filters(inferior);
}

static struct shadow_range bytes_of(const struct location *location)
{
	return (struct shadow_range){location->addr,
				     location->addr + location->trap_len};
}

/* The bytes under the traps of all inferiors, unless they are only counted (NULL);
 * returns how many ranges. */
static size_t list_traps(const struct inferiors *inferiors, struct shadow_range *traps)
{
	const struct inferior *inferior;
	const struct location *location;
	size_t count = 0;

	TAILQ_FOREACH (inferior, &inferiors->list, link) {
		if (!inferior->breakpoints)
			continue;
		TAILQ_FOREACH (location, &inferior->breakpoints->locations, link) {
			if (location->state != LOCATION_IN || !location->trap)
				continue;
			if (traps)
				traps[count] = bytes_of(location);
			count++;
		}
	}
	return count;
}

/* What a jump of another location's ends with, or its own, may be other bytes now. */
static void doubt_jumps(const struct location *location)
{
	struct breakpoints *breakpoints = location->inferior->breakpoints;
	struct location *other;
	struct index_walk walk;

	for (other = index_begin_near(&walk, breakpoints, location->addr, 1,
				      TRAP_CODE_MAX);
	     other; other = index_next(&walk)) {
		if (!other->trap || other->trap_span == other->trap_len ||
		    location->addr - other->addr >= other->trap_span)
			continue;
		other->doubtful = true;
		breakpoints->any_doubtful = true;
	}
}

/* What is lifted for a step comes again: the shadow has it still. */
void traps_changed(struct location *location)
{
	struct engines *engines = location->inferior->breakpoints->engines;
	bool is_lifted = location->lifted_in == engines->shadow_round + 1;

	if (!location->trap)
		return;
	doubt_jumps(location);
	if (location->state != LOCATION_IN) {
		engines->shadow_lifted += !is_lifted;
		location->lifted_in = engines->shadow_round + 1;
		return;
	}
	location->lifted_in = 0;
	if (is_lifted) {
		engines->shadow_lifted--;
		return;
	}
	engines->shadow_is_loose = true;
	shadow_add(&engines->shadow, bytes_of(location));
	tell(engines, location->inferior->owner);
}

/* To put all traps in order takes its time: while only steps follow, a byte that is in
 * it for nothing makes a maybe of a hit at worst. */
void traps_update_shadow(struct breakpoints *breakpoints, bool stepping)
{
	const struct inferiors *inferiors = breakpoints->inferior->owner;
	struct engines *engines = breakpoints->engines;
	_cleanup_free_ struct shadow_range *traps = NULL;

	if (!engines->shadow_is_loose && (stepping || engines->shadow_lifted == 0))
		return;
	engines->shadow_is_loose = false;
	engines->shadow_lifted = 0;
	engines->shadow_round++;
	traps = calloc(list_traps(inferiors, NULL) + 1, sizeof(*traps));
	/* Out of memory: no byte is what it seems. */
	engines->shadow = (struct shadow){.all = {0, UINT64_MAX}};
	if (traps)
		engines->shadow = shadow_around(traps, list_traps(inferiors, traps));
	tell(engines, inferiors);
}
