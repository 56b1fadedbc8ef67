/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/locations/location.h"

#include <stdlib.h>

#include "gdbstub/locations/handed_counts.h"
#include "gdbstub/locations/index.h"
#include "gdbstub/locations/planted_bytes.h"
#include "gdbstub/locations/wanted_state.h"

static const char *const type_names[] = {
	[BREAKPOINT_SOFTWARE] = "break", [BREAKPOINT_HARDWARE] = "hbreak",
	[WATCHPOINT_WRITE] = "watch",	 [WATCHPOINT_READ] = "rwatch",
	[WATCHPOINT_ACCESS] = "awatch",
};

const char *breakpoint_type_name(enum breakpoint_type type)
{
	return type_names[type];
}

int location_set(struct location *location, const struct agent_list *conditions,
		 const struct commands *commands)
{
	int err = agent_list_set(&location->asked, conditions);

	if (err == 0)
		err = wanted_state_join(location->wanted_state, &location->asked,
					&location->conditions);
	if (err == 0)
		err = agent_list_set(&location->commands.list, &commands->list);
	location->commands.persistent = commands->persistent;
	return err;
}

void location_take_out(struct location *location, bool gone)
{
	if (location->state == LOCATION_OUT)
		return;
	if (location->engine->ops->counts)
		location->engine->ops->counts(location->engine, location,
					      &location->counts);
	traps_changed(location);
	location->engine->ops->remove(location->engine, location, gone);
	location->state = LOCATION_OUT;
	location->engine = NULL;
	location->dropped += location->fate == TRAP_DROPPED;
	location->moved += location->fate == TRAP_MOVED;
	location->fate = TRAP_PLANTED;
	free(location->why);
	location->why = NULL;
}

void location_destroy(struct breakpoints *breakpoints, struct location *location)
{
	handed_count_unbind(breakpoints, location);
	TAILQ_REMOVE(&breakpoints->locations, location, link);
	index_remove(breakpoints, location);
	agent_list_clear(&location->conditions);
	agent_list_clear(&location->asked);
	wanted_state_destroy(location->wanted_state);
	agent_list_clear(&location->commands.list);
	counts_clear(&location->counts);
	free(location->place);
	free(location);
}

bool locations_drop_unwanted(struct breakpoints *breakpoints)
{
	struct location *location, *next;
	bool had_slots = false;

	for (location = TAILQ_FIRST(&breakpoints->locations); location;
	     location = next) {
		next = TAILQ_NEXT(location, link);
		if (location->wanted)
			continue;
		had_slots |= location->type != BREAKPOINT_SOFTWARE ||
			     location_uses_hardware(location);
		location_take_out(location, false);
		location_destroy(breakpoints, location);
	}
	return had_slots;
}

struct location *location_find(struct breakpoints *breakpoints,
			       enum breakpoint_type type, uint64_t addr,
			       unsigned int len)
{
	struct location *location;
	struct index_walk walk;

	for (location = index_begin(&walk, breakpoints, addr, addr); location;
	     location = index_next(&walk)) {
		if (location->type == type &&
		    (type <= BREAKPOINT_HARDWARE || location->len == len))
			break;
	}
	return location;
}

bool location_uses_hardware(const struct location *location)
{
	return location->state != LOCATION_OUT && !location->trap;
}

struct counts location_counts(const struct location *location)
{
	struct counts counts = {0};

	counts_add_all(&counts, &location->counts);
	if (location->state != LOCATION_OUT && location->engine->ops->counts)
		location->engine->ops->counts(location->engine, location, &counts);
	return counts;
}

struct hit_counts location_count(const struct location *location)
{
	struct counts counts = location_counts(location);
	struct hit_counts total = counts_total(&counts);

	counts_clear(&counts);
	return total;
}

struct error *location_switch(struct location *location, enum location_state state)
{
	const struct engine_ops *ops = location->engine->ops;
	int err = state == LOCATION_IN ? ops->resume(location->engine, location)
				       : ops->suspend(location->engine, location);

	if (err < 0)
		return error_create(-err, "%s *0x%jx cannot be switched %s by %s",
				    breakpoint_type_name(location->type),
				    (uintmax_t)location->addr,
				    state == LOCATION_IN ? "on" : "off", ops->name);
	location->state = state;
	if (state == LOCATION_IN) {
		location->fate = TRAP_PLANTED;
		location->switched_in = location->inferior->breakpoints->period + 1;
	}
	traps_changed(location);
	return NULL;
}

bool location_must_stay_off(const struct location *location)
{
	bool is_trap = location->state == LOCATION_OUT
			       ? location->type == BREAKPOINT_SOFTWARE
			       : location->trap != NULL;

	return is_trap && inferior_lends_memory(location->inferior);
}
