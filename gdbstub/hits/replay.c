/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/hits/replay.h"

#include <string.h>

#include "gdbstub/hits/evaluate.h"
#include "gdbstub/hits/critical_numbers.h"
#include "gdbstub/hits/look_after.h"
#include "gdbstub/control/control.h"
#include "gdbstub/control/stop.h"
#include "gdbstub/text/text.h"
#include "gdbstub/text/traps.h"
#include "gdbstub/breakpoints/watch.h"

enum { PIECES_MAX = 8 };

/* Bytes that are shown otherwise, or could be. */
struct piece {
	uint64_t addr;
	size_t len;
	uint8_t actual[WATCH_BYTES], shown[WATCH_BYTES];
};

struct replay {
	pid_t tid;
	bool noting;   /* evaluating: what is read becomes a piece */
	bool has_read; /* ... something was */
	unsigned int count;
	struct piece piece[PIECES_MAX];	 /* the first is what is watched */
	struct critical_numbers numbers; /* numbers to show the others as */
};

/* ---- the picture ---- */

static void show(const struct piece *piece, uint64_t addr, uint8_t *data, size_t len)
{
	for (size_t i = 0; i < piece->len; i++) {
		if (piece->addr + i - addr < len)
			data[piece->addr + i - addr] = piece->shown[i];
	}
}

static bool is_apart(const struct replay *replay, uint64_t addr, size_t len)
{
	for (unsigned int i = 0; i < replay->count; i++) {
		const struct piece *piece = &replay->piece[i];

		if (addr < piece->addr + piece->len && piece->addr < addr + len)
			return false;
	}
	return true;
}

/* In memory the lowest byte comes first. */
static uint64_t as_number(const uint8_t *bytes, size_t len)
{
	uint64_t number = 0;

	for (size_t i = 0; i < len && i < sizeof(number); i++)
		number |= (uint64_t)bytes[i] << 8 * i;
	return number;
}

static void note(struct replay *replay, uint64_t addr, const void *data, size_t len)
{
	struct piece *piece = &replay->piece[replay->count];

	replay->has_read = true;
	if (replay->count == PIECES_MAX || len > WATCH_BYTES ||
	    !is_apart(replay, addr, len))
		return;
	replay->count++;
	piece->addr = addr;
	piece->len = len;
	memcpy(piece->actual, data, len);
	memcpy(piece->shown, data, len);
	critical_numbers_add(&replay->numbers, as_number(data, len));
}

ssize_t replay_read_memory(struct inferior *inferior, uint64_t addr, void *data,
			   size_t len)
{
	struct replay *replay = inferior->control ? inferior->control->replay : NULL;
	ssize_t n = breakpoints_read_memory(inferior, addr, data, len);

	if (n > 0 && inferior->breakpoints)
		look_show_memory(inferior, addr, data, (size_t)n);
	if (!replay || n <= 0)
		return n;
	for (unsigned int i = 0; i < replay->count; i++)
		show(&replay->piece[i], addr, data, (size_t)n);
	if (replay->noting)
		note(replay, addr, data, (size_t)n);
	return n;
}

/* ---- one in which the condition is false ---- */

/* What the condition has read besides the watched bytes is shown as it is. */
static void uncover(struct replay *replay)
{
	for (unsigned int i = 1; i < replay->count; i++)
		memcpy(replay->piece[i].shown, replay->piece[i].actual,
		       replay->piece[i].len);
}

static void disguise(struct piece *piece, uint64_t number)
{
	for (size_t i = 0; i < piece->len; i++)
		piece->shown[i] = (uint8_t)(i < 8 ? number >> 8 * i : 0);
}

/* Is it false with one of the pieces, or all, shown as this number? */
static bool try_number(struct replay *replay, const struct location *location,
		       struct thread *thread, uint64_t number)
{
	bool found = false;

	for (unsigned int only = 0; only < replay->count && !found; only++) {
		uncover(replay);
		for (unsigned int i = 1; i < replay->count; i++) {
			if (only == 0 || only == i)
				disguise(&replay->piece[i], number);
		}
		found = !evaluate_conditions(location, thread, replay_read_memory);
	}
	return found;
}

static bool make_false(struct replay *replay, const struct location *location,
		       struct thread *thread)
{
	uint64_t number;
	bool found;

	critical_numbers_init(&replay->numbers, &location->conditions);
	critical_numbers_add(&replay->numbers,
			     as_number(replay->piece[0].shown, location->len));
	replay->noting = true;
	found = !evaluate_conditions(location, thread, replay_read_memory);
	while (!found && replay->count > 1 &&
	       critical_numbers_next(&replay->numbers, &number))
		found = try_number(replay, location, thread, number);
	replay->noting = false;
	if (!found)
		uncover(replay);
	return found;
}

/* ---- from stop to stop ---- */

/* For its step after a hit before the access, the client takes watchpoints out. */
static bool is_of_interest(const struct location *location, const struct thread *thread)
{
	return location->wanted || look_has_ended(thread);
}

static struct location *find_location(const struct thread *thread,
				      const struct stop *stop)
{
	const struct breakpoints *breakpoints = thread->inferior->breakpoints;
	struct location *location;

	TAILQ_FOREACH (location, &breakpoints->watchpoints, watch_link) {
		if (location->type == stop->watch && location->addr == stop->addr &&
		    location->len == stop->values.len &&
		    is_of_interest(location, thread))
			return location;
	}
	return NULL;
}

/* gdb looks at all watchpoints that have the address. */
static bool is_seen_by_others(const struct thread *thread,
			      const struct location *location)
{
	const struct location *other;

	TAILQ_FOREACH (other, &thread->inferior->breakpoints->watchpoints, watch_link) {
		if (other != location && is_of_interest(other, thread) &&
		    other->type > BREAKPOINT_HARDWARE &&
		    other->addr < location->addr + location->len &&
		    location->addr < other->addr + other->len)
			return true;
	}
	return false;
}

/* A client whose Z2 have conditions of their own does not compare as gdb does. */
static bool is_handed(const struct location *location)
{
	const struct agent_list *handed =
		handed_find(&location->inferior->breakpoints->handed, location->type,
			    location->addr, location->len);

	return handed->count > 0 && agent_list_equal(&location->conditions, handed);
}

/* Ignored hits, of which gdb would have remembered the last, let this one return to
 * what it remembers. */
static bool returns(struct location *location, const struct watch_values *values)
{
	return location->conditions.count == 0 && watch_has_ignored(location) &&
	       memcmp(location->watch.told, values->new, WATCH_BYTES) == 0;
}

static bool is_needed(struct location *location, const struct watch_values *values)
{
	return location && location->watch.filters &&
	       memcmp(values->old, values->new, WATCH_BYTES) != 0 &&
	       watch_may_differ(location, values->old) &&
	       (is_handed(location) || returns(location, values));
}

/* A picture in which the condition may be true. */
static bool is_worth_it(const struct replay *replay, const struct location *location,
			const struct watch_values *values)
{
	const uint8_t *told = location->watch.told;

	return memcmp(told, values->old, WATCH_BYTES) != 0 &&
	       (!replay->has_read || memcmp(told, values->new, WATCH_BYTES) == 0);
}

bool replay_begin(struct thread *thread, const struct stop *stop)
{
	struct inferior *inferior = thread->inferior;
	struct location *location = find_location(thread, stop);
	struct replay *replay;

	replay_end(inferior);
	if (stop->kind != STOP_WATCH || !is_needed(location, &stop->values))
		return false;
	replay = calloc(1, sizeof(*replay));
	if (!replay)
		return false;
	replay->tid = thread->tid;
	replay->count = 1;
	replay->piece[0].addr = location->addr;
	replay->piece[0].len = location->len;
	memcpy(replay->piece[0].shown, stop->values.old, WATCH_BYTES);
	inferior->control->replay = replay;
	if ((make_false(replay, location, thread) &&
	     !is_seen_by_others(thread, location)) ||
	    is_worth_it(replay, location, &stop->values))
		return true;
	replay_end(inferior);
	return false;
}

pid_t replay_thread(const struct inferior *inferior)
{
	return inferior->control->replay ? inferior->control->replay->tid : 0;
}

void replay_end(struct inferior *inferior)
{
	if (inferior->control)
		free(take_ptr(inferior->control->replay));
}
