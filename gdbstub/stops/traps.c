/* SPDX-License-Identifier: BSD-2-Clause */
/* Traps that others must not see. */
#include "stops/traps.h"

#include "stops/location.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "bpf/placement.h"
#include "inferior/memory.h"
#include "stops/commit.h"
#include "stops/index.h"
#include "stops/install.h"
#include "stops/old_traps.h"
#include "stops/trap.h"
#include "stops/replay.h"
#include "stops/watch.h"

static size_t count_locations(const struct inferiors *inferiors)
{
	const struct inferior *inferior;
	const struct location *location;
	size_t count = 0;

	TAILQ_FOREACH (inferior, &inferiors->list, link) {
		if (!inferior->breakpoints)
			continue;
		TAILQ_FOREACH (location, &inferior->breakpoints->locations, link)
			count++;
	}
	return count;
}

static struct shadow_range bytes_of(const struct location *location)
{
	return (struct shadow_range){location->addr,
				     location->addr +
					     location->inferior->arch->breakpoint_len};
}

/* The bytes under the traps of all inferiors; returns how many ranges. */
static size_t list_traps(const struct inferiors *inferiors, struct shadow_range *traps)
{
	const struct inferior *inferior;
	const struct location *location;
	size_t count = 0;

	TAILQ_FOREACH (inferior, &inferiors->list, link) {
		if (!inferior->breakpoints)
			continue;
		TAILQ_FOREACH (location, &inferior->breakpoints->locations, link) {
			if (location->state == LOCATION_IN && location->trap)
				traps[count++] = bytes_of(location);
		}
	}
	return count;
}

/* What is lifted for a step comes again: the shadow has it still. */
void traps_changed(struct location *location)
{
	struct engines *engines = location->inferior->breakpoints->engines;
	bool is_lifted = location->lifted_in == engines->shadow_round + 1;

	if (!location->trap)
		return;
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
	placements_set_shadow(engines->placements, &engines->shadow);
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
	traps = calloc(count_locations(inferiors) + 1, sizeof(*traps));
	/* Out of memory: no byte is what it seems. */
	engines->shadow = (struct shadow){.all = {0, UINT64_MAX}};
	if (traps)
		engines->shadow = shadow_around(traps, list_traps(inferiors, traps));
	placements_set_shadow(engines->placements, &engines->shadow);
}

static void clean_child(const struct breakpoints *breakpoints, struct inferior *child)
{
	const struct location *location;

	TAILQ_FOREACH (location, &breakpoints->locations, link) {
		if (location->state == LOCATION_IN && location->trap &&
		    trap_clean(location, child) < 0)
			log_debug(LOG_STOPS, "trap at 0x%jx stays in child %d",
				  (uintmax_t)location->addr, child->pid);
	}
}

void breakpoints_clean_child(struct breakpoints *breakpoints, struct inferior *child)
{
	const struct inferior *inferior = breakpoints->inferior;
	struct inferior *other;

	TAILQ_FOREACH (other, &inferior->owner->list, link) {
		if (other->breakpoints && inferior_shares_memory(other, inferior))
			clean_child(other->breakpoints, child);
	}
}

static struct error *lift_traps(struct breakpoints *breakpoints, uint64_t first,
				uint64_t last)
{
	struct location *location;
	struct index_walk walk;

	for (location = index_begin(&walk, breakpoints, first, last); location;
	     location = index_next(&walk)) {
		struct error *error;

		if (location->state != LOCATION_IN || !location->trap)
			continue;
		error = location_switch(location, LOCATION_SUSPENDED);
		if (error)
			return error;
	}
	return NULL;
}

struct error *breakpoints_lift_traps(struct breakpoints *breakpoints, uint64_t addr,
				     bool everywhere)
{
	const struct inferior *inferior = breakpoints->inferior;
	struct inferior *other;
	struct error *error = NULL;

	TAILQ_FOREACH (other, &inferior->owner->list, link) {
		if (!error && other->breakpoints &&
		    inferior_shares_memory(other, inferior))
			error = lift_traps(other->breakpoints, everywhere ? 0 : addr,
					   everywhere ? UINT64_MAX : addr);
	}
	return error;
}

bool breakpoints_have_traps(const struct breakpoints *breakpoints)
{
	const struct location *location;

	TAILQ_FOREACH (location, &breakpoints->locations, link) {
		if (location->state == LOCATION_IN && location->trap)
			return true;
	}
	return false;
}

ssize_t breakpoints_read_memory(struct inferior *inferior, uint64_t addr, void *data,
				size_t len)
{
	ssize_t n = inferior_read(inferior, addr, data, len);

	if (n > 0)
		traps_show_originals(inferior, addr, data, (size_t)n);
	return n;
}

/* The kernel executes what the file has: not what is about to be written. */
static bool is_overwritten(const struct location *location, uint64_t addr, size_t len)
{
	return location->trap && location->engine->ops->kernel_traps &&
	       addr < location->addr + INSN_LEN_MAX && location->addr < addr + len;
}

/* Were there some? */
static bool take_out_overwritten(struct inferior *inferior, uint64_t addr, size_t len)
{
	struct location *location;
	struct index_walk walk;
	bool any = false;

	if (len == 0)
		return false;
	for (location = index_begin_near(&walk, inferior->breakpoints, addr, len,
					 INSN_LEN_MAX);
	     location; location = index_next(&walk)) {
		if (!is_overwritten(location, addr, len))
			continue;
		location_take_out(location, false);
		any = true;
	}
	return any;
}

void locations_put_in_again(struct breakpoints *breakpoints)
{
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
}

/* Where a probe is still being closed, the kernel would take a trap that the client
 * writes for its own, and put the file's instruction in its place. */
static void settle_for_trap(const struct inferior *inferior, const void *data,
			    size_t len)
{
	const struct arch_ops *arch = inferior->arch;

	if (memmem(data, len, arch->breakpoint_insn, arch->breakpoint_len))
		engines_settle(inferior->breakpoints->engines);
}

int breakpoints_write_memory(struct inferior *inferior, uint64_t addr, const void *data,
			     size_t len)
{
	bool any;
	int err;

	watch_wrote(inferior, addr, len);
	if (!inferior->breakpoints)
		return traps_write_under(inferior, addr, data, len);
	replay_end(inferior->breakpoints);
	any = take_out_overwritten(inferior, addr, len);
	old_traps_forget(inferior->breakpoints, addr, len);
	settle_for_trap(inferior, data, len);
	err = traps_write_under(inferior, addr, data, len);
	if (any)
		locations_put_in_again(inferior->breakpoints);
	return err;
}
