/* SPDX-License-Identifier: BSD-2-Clause */
/* Traps that others must not see. */
#include "stops/location.h"

#include "base/log.h"
#include "stops/int3.h"

void traps_update_shadow(struct breakpoints *breakpoints)
{
	uint64_t start = UINT64_MAX, end = 0;
	const struct inferior *inferior;

	TAILQ_FOREACH (inferior, &breakpoints->inferior->owner->list, link) {
		const struct location *location;

		if (!inferior->breakpoints)
			continue;
		TAILQ_FOREACH (location, &inferior->breakpoints->locations, link) {
			uint64_t after =
				location->addr + inferior->arch->breakpoint_len;

			if (location->state != LOCATION_IN ||
			    location_uses_hardware(location))
				continue;
			start = location->addr < start ? location->addr : start;
			end = after > end ? after : end;
		}
	}
	if (end == 0)
		start = 0;
	for (int i = 0; i < NENGINES; i++) {
		struct engine *engine = &breakpoints->engines->engine[i];

		if (!engine->unusable && engine->ops->set_shadow)
			engine->ops->set_shadow(engine, start, end);
	}
}

static void clean_child(const struct breakpoints *breakpoints, struct inferior *child)
{
	const struct location *location;

	TAILQ_FOREACH (location, &breakpoints->locations, link) {
		if (location->state == LOCATION_IN &&
		    !location_uses_hardware(location) &&
		    int3_clean(location, child) < 0)
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

static struct error *lift_traps(struct breakpoints *breakpoints, uint64_t addr,
				bool everywhere)
{
	struct location *location;

	TAILQ_FOREACH (location, &breakpoints->locations, link) {
		struct error *error;

		if (location->state != LOCATION_IN ||
		    location_uses_hardware(location) ||
		    (!everywhere && location->addr != addr))
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
			error = lift_traps(other->breakpoints, addr, everywhere);
	}
	return error;
}

bool breakpoints_have_traps(const struct breakpoints *breakpoints)
{
	const struct location *location;

	TAILQ_FOREACH (location, &breakpoints->locations, link) {
		if (location->state == LOCATION_IN && !location_uses_hardware(location))
			return true;
	}
	return false;
}

ssize_t breakpoints_read_memory(struct inferior *inferior, uint64_t addr, void *data,
				size_t len)
{
	ssize_t n = inferior_read(inferior, addr, data, len);

	if (n > 0)
		int3_show_originals(inferior, addr, data, (size_t)n);
	return n;
}

int breakpoints_write_memory(struct inferior *inferior, uint64_t addr, const void *data,
			     size_t len)
{
	return int3_write_under(inferior, addr, data, len);
}
