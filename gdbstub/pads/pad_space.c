/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/pads/pad_space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/symbols/mapping.h"

enum {
	CLEARANCE = 256 << 20, /* what may grow gets so much, bytes */
	TRIES = 4096,	       /* at most so many addresses are looked at */
};

static const uint64_t lowest_address = 1 << 16; /* mmap_min_addr is not above it */

/* ---- ranges ---- */

static bool make_room(struct pad_ranges *ranges)
{
	const size_t allocated = ranges->allocated ? 2 * ranges->allocated : 16;
	struct pad_range *range;

	if (ranges->count < ranges->allocated)
		return true;
	range = reallocarray(ranges->range, allocated, sizeof(*range));
	if (!range)
		return false;
	ranges->range = range;
	ranges->allocated = allocated;
	return true;
}

/* The first one that ends after @addr: its number, or how many there are. */
static size_t first_after(const struct pad_ranges *ranges, uint64_t addr)
{
	size_t low = 0, high = ranges->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (ranges->range[middle].end > addr)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static int add_range(struct pad_ranges *ranges, uint64_t start, uint64_t end)
{
	const size_t at = first_after(ranges, start);
	struct pad_range *range;

	if (!make_room(ranges))
		return -ENOMEM;
	range = ranges->range + at;
	memmove(range + 1, range, (ranges->count - at) * sizeof(*range));
	*range = (struct pad_range){.start = start, .end = end};
	ranges->count++;
	return 0;
}

/* The one that has the address, or NULL. */
static const struct pad_range *range_at(const struct pad_ranges *ranges, uint64_t addr)
{
	const size_t at = first_after(ranges, addr);

	return at < ranges->count && ranges->range[at].start <= addr
		       ? &ranges->range[at]
		       : NULL;
}

void pad_space_init(struct pad_space *space, uint64_t page_size, uint64_t top)
{
	*space = (struct pad_space){.page_size = page_size, .top = top};
}

void pad_space_deinit(struct pad_space *space)
{
	free(space->free.range);
	for (int kind = 0; kind < PAD_KINDS; kind++)
		free(space->pages[kind].range);
	free(space->taken.range);
	*space = (struct pad_space){.page_size = space->page_size, .top = space->top};
}

/* ---- what is free ---- */

/* What the kernel may put between two mappings, or before the first: the former, if it
 * is the executable or the heap, may grow up, and the latter down, unless it is the
 * executable. */
static int add_free(struct pad_space *space, const struct mapping *before,
		    bool grows_up, const struct mapping *after, bool grows_down)
{
	uint64_t start = before ? before->end : lowest_address;
	uint64_t end = after->start < space->top ? after->start : space->top;

	start += grows_up ? CLEARANCE : 0;
	end -= grows_down && end >= CLEARANCE ? CLEARANCE : 0;
	return start < end ? add_range(&space->free, start, end) : 0;
}

static bool is_named(const struct mapping *mapping, const char *name)
{
	return mapping->name_len == (int)strlen(name) &&
	       memcmp(mapping->name, name, (size_t)mapping->name_len) == 0;
}

static bool is_image(const struct mapping *mapping, const struct mapping *image)
{
	return mapping->file.inode != 0 && file_id_equal(&mapping->file, &image->file);
}

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end + 1 : line + strlen(line);
}

/* The page of ours that the address is in, or NULL. */
static const struct pad_range *page_at(const struct pad_space *space, uint64_t addr)
{
	const struct pad_range *page = range_at(&space->pages[PADS], addr);

	return page ? page : range_at(&space->pages[HOPS], addr);
}

int pad_space_look(struct pad_space *space, const char *maps, uint64_t image_addr)
{
	struct mapping mapping, before = {0}, image = {0};
	bool is_first = true, grows_up = false;
	int err = 0;

	space->free.count = 0;
	mapping_find(maps, image_addr, &image);
	for (const char *line = maps; *line && err == 0; line = next_line(line)) {
		bool in_image;

		/* The rules are not about what is ours. */
		if (!mapping_parse(line, &mapping) || page_at(space, mapping.start))
			continue;
		in_image = is_image(&mapping, &image);
		err = add_free(space, is_first ? NULL : &before, grows_up, &mapping,
			       !in_image);
		/* Its data without a file follow it. */
		grows_up = in_image || is_named(&mapping, "[heap]") ||
			   (grows_up && before.end == mapping.start);
		before = mapping;
		is_first = false;
	}
	return err;
}

/* ---- room ---- */

static uint64_t page_of(const struct pad_space *space, uint64_t addr)
{
	return addr & ~(space->page_size - 1);
}

static bool is_usable(const struct pad_space *space, enum pad_kind kind, uint64_t page)
{
	const struct pad_range *range;

	if (page_at(space, page))
		return kind == HOPS || range_at(&space->pages[PADS], page);
	range = range_at(&space->free, page);
	return range && page + space->page_size <= range->end;
}

/* The pad that is in the way of one at @addr, or NULL. */
static const struct pad_range *obstacle(const struct pad_space *space, uint64_t addr,
					unsigned int len)
{
	const size_t at = first_after(&space->taken, addr);

	return at < space->taken.count && space->taken.range[at].start < addr + len
		       ? &space->taken.range[at]
		       : NULL;
}

/* What is looked for. */
struct wanted {
	enum pad_kind kind;
	uint64_t lowest, highest;
	unsigned int len;
};

/* The first such address at which the pages allow it and nothing is yet; @fresh: in a
 * page that is not mapped yet. */
static bool find_among(const struct pad_space *space, const struct wanted *wanted,
		       bool fresh, uint64_t *addr)
{
	const uint64_t last = wanted->len - 1;
	uint64_t at = wanted->lowest;

	for (unsigned int tries = 0; tries < TRIES && at <= wanted->highest; tries++) {
		const struct pad_range *page = page_at(space, at);
		const struct pad_range *taken = obstacle(space, at, wanted->len);

		if (fresh && page) {
			at = page->end;
		} else if (taken) {
			at = taken->end;
		} else if (!is_usable(space, wanted->kind, page_of(space, at))) {
			at = page_of(space, at) + space->page_size;
		} else if (!is_usable(space, wanted->kind, page_of(space, at + last))) {
			at = page_of(space, at + last) + space->page_size;
		} else {
			*addr = at;
			return true;
		}
	}
	return false;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static bool find_within(const struct pad_space *space, const struct pad_range *range,
			const struct wanted *wanted, bool fresh, uint64_t *addr)
{
	struct wanted here = *wanted;

	here.lowest = larger(here.lowest, range->start);
	here.highest = smaller(here.highest, range->end - 1);
	return find_among(space, &here, fresh, addr);
}

/* The last pages first: those before them have filled. */
static bool find_in_pages(const struct pad_space *space, enum pad_kind kind,
			  const struct wanted *wanted, uint64_t *addr)
{
	const struct pad_ranges *pages = &space->pages[kind];
	size_t i = first_after(pages, wanted->highest);

	if (i < pages->count && pages->range[i].start <= wanted->highest)
		i++;
	while (i > 0 && pages->range[i - 1].end > wanted->lowest)
		if (find_within(space, &pages->range[--i], wanted, false, addr))
			return true;
	return false;
}

static bool find_in_free(const struct pad_space *space, const struct wanted *wanted,
			 uint64_t *addr)
{
	const struct pad_ranges *free = &space->free;

	for (size_t i = first_after(free, wanted->lowest);
	     i < free->count && free->range[i].start <= wanted->highest; i++)
		if (find_within(space, &free->range[i], wanted, true, addr))
			return true;
	return false;
}

bool pad_space_find(const struct pad_space *space, enum pad_kind kind, uint64_t lowest,
		    uint64_t highest, unsigned int len, uint64_t *addr)
{
	const struct wanted wanted = {
		.kind = kind, .lowest = lowest, .highest = highest, .len = len};

	return find_in_pages(space, PADS, &wanted, addr) ||
	       (kind == HOPS && find_in_pages(space, HOPS, &wanted, addr)) ||
	       find_in_free(space, &wanted, addr);
}

/* Pages that there are, in which hops are tried, and where in each. */
enum { PAGES_TRIED = 8, APART = 67 };

/* The addresses in a page, from the range's start on. */
static bool try_page(const struct pad_space *space, uint64_t lowest, uint64_t highest,
		     unsigned int number, uint64_t *addr)
{
	const unsigned int each = (unsigned int)(space->page_size / APART);
	unsigned int page = number / each;

	for (int kind = 0; kind < PAD_KINDS; kind++) {
		const struct pad_ranges *pages = &space->pages[kind];
		const size_t first = first_after(pages, lowest);
		const size_t last = first_after(pages, highest);

		if (page < last - first) {
			*addr = pages->range[first + page].start +
				(uint64_t)(number % each) * APART;
			return true;
		}
		page -= (unsigned int)(last - first);
	}
	return false;
}

bool pad_space_try(const struct pad_space *space, uint64_t lowest, uint64_t highest,
		   unsigned int len, unsigned int number, uint64_t *addr)
{
	const unsigned int in_pages =
		PAGES_TRIED * (unsigned int)(space->page_size / APART);
	const uint64_t width = highest - lowest + 1;
	uint64_t at;

	if (width <= space->page_size) {
		at = lowest + number;
	} else if (number < in_pages) {
		if (!try_page(space, lowest, highest, number, &at))
			return false;
	} else {
		/* Multiples of the golden ratio are spread evenly. */
		at = lowest +
		     ((number - in_pages) * UINT32_C(0x9e3779b1) * width >> 32);
	}
	return at >= lowest && at <= highest &&
	       pad_space_find(space, HOPS, at, at, len, addr);
}

bool pad_space_middle(const struct pad_space *space, uint64_t len, uint64_t *addr)
{
	const struct pad_range *widest = NULL;

	for (size_t i = 0; i < space->free.count; i++) {
		const struct pad_range *range = &space->free.range[i];

		if (!widest || range->end - range->start > widest->end - widest->start)
			widest = range;
	}
	if (!widest || widest->end - widest->start < 2 * len)
		return false;
	*addr = page_of(space, widest->start + (widest->end - widest->start) / 2);
	return true;
}

unsigned int pad_space_missing(const struct pad_space *space, uint64_t addr,
			       unsigned int len, uint64_t pages[2])
{
	unsigned int count = 0;

	for (uint64_t page = page_of(space, addr); page < addr + len;
	     page += space->page_size)
		if (!page_at(space, page))
			pages[count++] = page;
	return count;
}

int pad_space_add_page(struct pad_space *space, enum pad_kind kind, uint64_t page)
{
	return add_range(&space->pages[kind], page, page + space->page_size);
}

int pad_space_take(struct pad_space *space, uint64_t addr, unsigned int len)
{
	return add_range(&space->taken, addr, addr + len);
}

bool pad_space_taken(const struct pad_space *space, uint64_t addr, uint64_t *start)
{
	const struct pad_range *range = range_at(&space->taken, addr);

	if (range)
		*start = range->start;
	return range != NULL;
}

void pad_space_give_back(struct pad_space *space, uint64_t addr)
{
	struct pad_ranges *taken = &space->taken;
	const size_t at = first_after(taken, addr);

	if (at == taken->count || taken->range[at].start != addr)
		return;
	taken->count--;
	memmove(taken->range + at, taken->range + at + 1,
		(taken->count - at) * sizeof(taken->range[0]));
}
