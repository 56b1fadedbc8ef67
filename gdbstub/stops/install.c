/* SPDX-License-Identifier: BSD-2-Clause */
/* Choosing an engine, putting a location in, giving slots away. */
#include "stops/location.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "stops/share.h"
#include "stops/slots.h"
#include "stops/watch.h"

/* Has the program a breakpoint instruction of its own there? */
static bool is_own_trap(const struct location *location)
{
	const struct arch_ops *arch = location->inferior->arch;
	uint8_t insn[8];
	ssize_t n = breakpoints_read_memory(location->inferior, location->addr, insn,
					    arch->breakpoint_len);

	return n == (ssize_t)arch->breakpoint_len &&
	       memcmp(insn, arch->breakpoint_insn, arch->breakpoint_len) == 0;
}

/* Does the program go on by itself after hits? */
static bool passes_hits(const struct location *location)
{
	return location->conditions.count > 0 || location->commands.list.count > 0;
}

/* One at a breakpoint instruction of the program's own explains that one, so a false
 * hit must not run into it. */
const char *location_keeps_out(const struct location *location)
{
	if (location->type != BREAKPOINT_SOFTWARE)
		return NULL;
	if (!passes_hits(location))
		return "it stops at every hit, so it leaves the few hardware slots to "
		       "those that gain from them";
	if (is_own_trap(location))
		return "the program has a breakpoint instruction of its own there";
	return NULL;
}

/* Which engines may serve a location, in order of preference. */
static unsigned int engine_choices(const struct location *location, int *choices)
{
	unsigned int n = 0;

	if (!location_keeps_out(location)) {
		choices[n++] = ENGINE_PERF_EVENT;
		choices[n++] = ENGINE_DEBUGREG;
	}
	if (location->type == BREAKPOINT_SOFTWARE)
		choices[n++] = ENGINE_INT3;
	return n;
}

struct error *location_put_in(struct breakpoints *breakpoints,
			      struct location *location)
{
	int choices[NENGINES];
	unsigned int n = engine_choices(location, choices);
	_cleanup_error_ struct error *first = NULL;

	watch_init(location);
	for (unsigned int i = 0; i < n; i++) {
		struct engine *engine = &breakpoints->engines->engine[choices[i]];
		struct error *error;

		if (engine->unusable)
			continue;
		error = engine->ops->insert(engine, location);
		if (!error) {
			location->engine = engine;
			location->state = LOCATION_IN;
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
		return error_create(0, "no engine can serve %s",
				    breakpoint_type_name(location->type));
	return take_ptr(first);
}

/* A software location in hardware gives its slot to one that has no choice. */
static bool demote_one(struct breakpoints *breakpoints)
{
	struct engine *int3 = &breakpoints->engines->engine[ENGINE_INT3];
	struct location *location;

	TAILQ_FOREACH (location, &breakpoints->locations, link) {
		_cleanup_error_ struct error *error = NULL;

		if (location->type != BREAKPOINT_SOFTWARE ||
		    !location_uses_hardware(location))
			continue;
		location_take_out(location, false);
		if (location->wanted)
			error = int3->ops->insert(int3, location);
		if (error)
			log_warning("breakpoint at 0x%jx is lost: %s",
				    (uintmax_t)location->addr, error_text(error));
		if (location->wanted && !error) {
			location->engine = int3;
			location->state = LOCATION_IN;
			location->why = strdup("gave its hardware slot away");
		}
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

struct error *location_install(struct breakpoints *breakpoints,
			       struct location *location)
{
	struct error *error = location_put_in(breakpoints, location);

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
