/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/text/trap_inspection.h"

#include <string.h>

#include "gdbstub/inferior/memory.h"
#include "gdbstub/text/trap.h"

/* The bytes that were read last: of a page. */
struct window {
	uint64_t start;
	size_t len;
	uint8_t bytes[4096];
};

static const uint8_t *find(const struct window *window, uint64_t addr, size_t len)
{
	uint64_t at = addr - window->start;

	return at < window->len && len <= window->len - at ? window->bytes + at : NULL;
}

/* Is the next one in the list, which is looked at next, in the same page? */
static bool has_neighbour(const struct location *location)
{
	const struct location *next = TAILQ_NEXT(location, link);
	const size_t page = sizeof((struct window){0}.bytes);

	return next && next->trap && next->addr / page == location->addr / page;
}

/* What memory has at the location, traps and all: trap->known bytes, or NULL. */
static const uint8_t *look(struct window *window, const struct location *location)
{
	const unsigned int known = location->trap->known;
	const size_t page = sizeof(window->bytes);
	size_t at = location->addr % page;
	ssize_t n;

	if (find(window, location->addr, known))
		return find(window, location->addr, known);
	if (known > page - at || !has_neighbour(location))
		at = 0; /* it reaches into the next page, or is alone */
	window->start = location->addr - at;
	n = inferior_read(location->inferior, window->start, window->bytes,
			  at > 0 ? page : known);
	window->len = n > 0 ? (size_t)n : 0;
	return find(window, location->addr, known);
}

/* The trap, and after it what was there when it was planted. */
static bool is_as_planted(const struct location *location, const uint8_t *bytes)
{
	return memcmp(bytes, location->trap->planted, location->trap_span) == 0 &&
	       trap_is_code_of(location, bytes);
}

/* The trap has gone, or is followed by other code: by the program's own doing, or
 * because it is none of ours. */
static enum trap_fate find_fate(struct location *location)
{
	struct engine *engine = location->engine;

	if (!trap_is_planted(location))
		return trap_is_code(location) ? TRAP_DROPPED : TRAP_REPLACED;
	if (engine->ops->vanished && engine->ops->vanished(engine, location))
		return TRAP_REPLACED;
	if (!engine->ops->intact(engine, location))
		return TRAP_CHANGED;
	trap_know(location);
	return TRAP_PLANTED;
}

static void inspect(struct location *location, struct window *window)
{
	const uint8_t *bytes = look(window, location);

	location->fate = bytes && is_as_planted(location, bytes) ? TRAP_PLANTED
								 : find_fate(location);
}

/* Nobody has run since it was switched on, for the client that is about to resume. */
static bool is_fresh(const struct breakpoints *breakpoints,
		     const struct location *location)
{
	return location->switched_in == breakpoints->period + 1 &&
	       !breakpoints->engines->others_run;
}

void breakpoints_inspect(struct breakpoints *breakpoints)
{
	struct window window = {0};
	struct location *location;

	if (breakpoints->inspected)
		return;
	breakpoints->inspected = true;
	TAILQ_FOREACH (location, &breakpoints->locations, link) {
		/* That one is there, but not where its engine can serve it. */
		if (location->state == LOCATION_IN && location->trap &&
		    location->fate != TRAP_MOVED && !is_fresh(breakpoints, location))
			inspect(location, &window);
	}
}

/* Where others run, what was seen at a stop need not be so any longer. */
static bool fate_is_known(const struct location *location)
{
	const struct breakpoints *breakpoints = location->inferior->breakpoints;

	return location->state == LOCATION_IN && location->trap &&
	       breakpoints->inspected && !breakpoints->engines->others_run;
}

bool trap_is_seen(const struct location *location)
{
	return fate_is_known(location) && location->fate == TRAP_PLANTED;
}

static bool find_trap(const struct location *location, struct window *window)
{
	const struct trap *trap = location->trap;
	const uint8_t *bytes = look(window, location);

	return bytes && memcmp(bytes, trap->planted, trap->len) == 0;
}

void breakpoints_look_at_unwanted(struct breakpoints *breakpoints)
{
	struct window window = {0};
	struct location *location;

	TAILQ_FOREACH (location, &breakpoints->locations, link)
		location->seen =
			!location->wanted && location->state == LOCATION_IN &&
			location->trap &&
			(trap_is_seen(location) || find_trap(location, &window));
}

bool location_is_intact(const struct location *location)
{
	struct engine *engine = location->engine;

	if (!engine->ops->intact)
		return true;
	if (fate_is_known(location))
		return location->fate == TRAP_PLANTED;
	return engine->ops->intact(engine, location);
}

bool traps_must_move(const struct location *location)
{
	return location->trap &&
	       (location->fate == TRAP_DROPPED || location->fate == TRAP_MOVED ||
		location->fate == TRAP_CHANGED);
}

static void print_times(const char *what, unsigned int times, struct buffer *out)
{
	if (times > 0)
		buffer_printf(out, "%s%s, %u time%s", out->len > 0 ? "; " : "", what,
			      times, times == 1 ? "" : "s");
}

void location_print_fate(const struct location *location, struct buffer *out)
{
	static const char *const fates[] = {
		[TRAP_DROPPED] = "its trap has gone from memory, and is put back when "
				 "the program goes on",
		[TRAP_REPLACED] = "it is not in memory: the program has put something "
				  "else in the place of its code",
		[TRAP_MOVED] = "the program has moved its code to other memory, trap "
			       "and all",
		[TRAP_CHANGED] = "the program has changed its code",
	};

	if (location->state == LOCATION_IN && location->trap && fates[location->fate])
		buffer_append_string(out, fates[location->fate]);
	print_times("its trap had gone from memory, and was put back",
		    location->dropped, out);
	print_times("the program had moved its code to other memory, trap and all",
		    location->moved, out);
}
