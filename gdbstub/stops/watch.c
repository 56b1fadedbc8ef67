/* SPDX-License-Identifier: BSD-2-Clause */
#include "stops/watch.h"

#include <string.h>

#include "stops/ignore.h"
#include "stops/location.h"
#include "stops/replay.h"

/* Where hits come before the access, there is nothing to compare yet. */
static bool can_filter(const struct location *location)
{
	const struct engines *engines = location->inferior->breakpoints->engines;

	return location->type == WATCHPOINT_WRITE && location->len > 0 &&
	       location->len <= WATCH_BYTES && !engines->unfiltered &&
	       !engines->every_write && !location->inferior->arch->debugreg_hits_repeat;
}

struct watch_last *watch_last(struct location *location)
{
	if (location->state != LOCATION_OUT && location->engine->ops->last)
		return location->engine->ops->last(location->engine, location);
	return &location->watch.last;
}

/* ---- memory ---- */

/* As programs see it. */
static bool read_contents(void *data, uint8_t *bytes)
{
	const struct location *location = data;

	memset(bytes, 0, WATCH_BYTES);
	return inferior_read(location->inferior, location->addr, bytes,
			     location->len) == (ssize_t)location->len;
}

/* As the client sees it. */
static bool read_shown(const struct location *location, uint8_t *bytes)
{
	memset(bytes, 0, WATCH_BYTES);
	return replay_read_memory(location->inferior, location->addr, bytes,
				  location->len) == (ssize_t)location->len;
}

/* The client has seen what memory holds now. */
static void begin_anew(struct location *location)
{
	struct watch_last *last = watch_last(location);
	struct watch_values values;

	location->watch.rewritten = location->watch.moved = false;
	watch_last_exchange(last, location->len, read_contents, location, &values);
	if (values.len == 0 || !read_shown(location, location->watch.told))
		watch_last_doubt(last);
}

static bool overlaps(const struct location *location, uint64_t addr, size_t len)
{
	return addr < location->addr + location->len && location->addr < addr + len;
}

/* ---- hits ---- */

void watch_init(struct location *location)
{
	bool filters = can_filter(location);

	if (filters && !location->watch.filters)
		begin_anew(location);
	location->watch.filters = filters;
}

bool watch_is_outdated(const struct location *location)
{
	return location->watch.filters != can_filter(location);
}

bool watch_changed(struct hit *hit)
{
	struct location *location = hit->location;

	if (!location->watch.filters || hit->values.len > 0)
		return true;
	return watch_last_exchange(watch_last(location), location->len, read_contents,
				   location, &hit->values);
}

void watch_untold(struct location *location)
{
	if (location->watch.filters)
		watch_last_doubt(watch_last(location));
}

/* The client compares the values of all its watchpoints that have the address. */
void watch_told(struct breakpoints *breakpoints, uint64_t addr)
{
	struct location *location;

	TAILQ_FOREACH (location, &breakpoints->locations, link) {
		if (location->watch.filters && overlaps(location, addr, 1))
			begin_anew(location);
	}
}

bool watch_may_differ(const struct location *location, const uint8_t *bytes)
{
	const struct watch *watch = &location->watch;

	return watch->moved || memcmp(watch->told, bytes, sizeof(watch->told)) != 0;
}

void watch_wrote(struct inferior *inferior, uint64_t addr, size_t len)
{
	struct inferior *other;
	struct location *location;

	TAILQ_FOREACH (other, &inferior->owner->list, link) {
		if (!other->breakpoints || !inferior_shares_memory(other, inferior))
			continue;
		TAILQ_FOREACH (location, &other->breakpoints->locations, link) {
			if (overlaps(location, addr, len))
				location->watch.rewritten = true;
		}
	}
}

/* Is every change told? */
static bool tells_all(struct location *location)
{
	const struct gate *gate = ignore_gate(location);

	return location->conditions.count == 0 && location->commands.list.count == 0 &&
	       gate->ignored == 0 && gate_left(gate) == 0;
}

/*
 * Memory may have changed without a hit: by a system call, or while the location was
 * switched off. The client may have set the watchpoint meanwhile, or have had it all
 * the time, which look the same: whether it remembers the value of now or the former,
 * is not known.
 */
static bool note_doubts(struct location *location)
{
	struct watch_last *last = watch_last(location);
	uint8_t bytes[WATCH_BYTES];
	bool is_read = read_contents(location, bytes);

	location->watch.moved |= !is_read || watch_may_differ(location, bytes);
	if (!is_read || !watch_last_equals(last, bytes))
		return true;
	return tells_all(location) && !watch_last_equals(last, location->watch.told);
}

void watch_prepare(struct breakpoints *breakpoints)
{
	struct location *location;

	TAILQ_FOREACH (location, &breakpoints->locations, link) {
		if (!location->watch.filters)
			continue;
		if (location->watch.rewritten)
			begin_anew(location);
		else if (note_doubts(location))
			watch_last_doubt(watch_last(location));
	}
}

/* ---- the life of a location ---- */

void watch_inherit(struct location *child, struct location *parent)
{
	child->watch = parent->watch;
	child->watch.last = *watch_last(parent);
	child->watch.last.lock = 0;
}
