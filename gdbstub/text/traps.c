/* SPDX-License-Identifier: BSD-2-Clause */
/* Traps that others must not see. */
#include "gdbstub/text/traps.h"

#include "gdbstub/locations/location.h"

#include "gdbstub/base/log.h"
#include "gdbstub/locations/index.h"
#include "gdbstub/text/text.h"
#include "gdbstub/text/trap.h"

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

	FOREACH_SHARING (other, inferior) {
		if (other->breakpoints)
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

	FOREACH_SHARING (other, inferior) {
		if (!error && other->breakpoints)
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
