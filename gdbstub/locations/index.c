/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/locations/index.h"

enum {
	CELL_SHIFT = 6, /* addresses are found by cells of so many bytes, as a power of
			 * two: a range has few of them, and a cell few locations */
};

static struct location *owner(const struct table_entry *entry, size_t offset)
{
	return entry ? (struct location *)((char *)entry - offset) : NULL;
}

void index_add(struct breakpoints *breakpoints, struct location *location)
{
	table_insert(&breakpoints->by_cell, &location->by_cell,
		     location->addr >> CELL_SHIFT);
	table_insert(&breakpoints->by_number, &location->by_number, location->number);
	if (location->type > BREAKPOINT_HARDWARE)
		TAILQ_INSERT_TAIL(&breakpoints->watchpoints, location, watch_link);
}

void index_remove(struct breakpoints *breakpoints, struct location *location)
{
	table_remove(&breakpoints->by_cell, &location->by_cell);
	table_remove(&breakpoints->by_number, &location->by_number);
	if (location->type > BREAKPOINT_HARDWARE)
		TAILQ_REMOVE(&breakpoints->watchpoints, location, watch_link);
}

void index_deinit(struct breakpoints *breakpoints)
{
	table_deinit(&breakpoints->by_cell);
	table_deinit(&breakpoints->by_number);
}

struct location *index_number(const struct breakpoints *breakpoints,
			      unsigned int number)
{
	return owner(table_find(&breakpoints->by_number, number),
		     offsetof(struct location, by_number));
}

/* ---- ranges ---- */

static struct location *take_listed(struct index_walk *walk)
{
	struct location *location = walk->listed;

	if (location)
		walk->listed = TAILQ_NEXT(location, link);
	return location;
}

static struct location *take_entry(struct index_walk *walk)
{
	struct location *location;

	while (!walk->entry && walk->cell != walk->last >> CELL_SHIFT)
		walk->entry = table_find(&walk->breakpoints->by_cell, ++walk->cell);
	location = owner(walk->entry, offsetof(struct location, by_cell));
	if (location)
		walk->entry = table_find_next(walk->entry);
	return location;
}

struct location *index_next(struct index_walk *walk)
{
	struct location *location;

	do
		location = walk->listed ? take_listed(walk) : take_entry(walk);
	while (location &&
	       (location->addr < walk->first || location->addr > walk->last));
	return location;
}

struct location *index_begin(struct index_walk *walk,
			     const struct breakpoints *breakpoints, uint64_t first,
			     uint64_t last)
{
	*walk = (struct index_walk){.breakpoints = breakpoints,
				    .first = first,
				    .last = last,
				    .cell = first >> CELL_SHIFT};
	if ((last >> CELL_SHIFT) - walk->cell > breakpoints->by_cell.count) {
		walk->listed = TAILQ_FIRST(&breakpoints->locations);
		walk->cell = last >> CELL_SHIFT;
	} else {
		walk->entry = table_find(&breakpoints->by_cell, walk->cell);
	}
	return index_next(walk);
}

struct location *index_begin_near(struct index_walk *walk,
				  const struct breakpoints *breakpoints, uint64_t addr,
				  uint64_t len, unsigned int before)
{
	uint64_t first = addr >= before ? addr - before + 1 : 0;
	uint64_t last = addr + len - 1;

	return index_begin(walk, breakpoints, first, last < addr ? UINT64_MAX : last);
}
