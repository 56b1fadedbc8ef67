/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/shared/shadow.h"

#include <stdlib.h>
#include <string.h>

static int compare_starts(const void *a, const void *b)
{
	const struct shadow_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static uint64_t length(struct shadow_range range)
{
	return range.end - range.start;
}

/* Keeps the widest. */
static void add_gap(struct shadow *shadow, struct shadow_range gap)
{
	for (int i = 0; i < SHADOW_GAPS; i++) {
		struct shadow_range narrower = shadow->gaps[i];

		if (length(gap) <= length(narrower))
			continue;
		shadow->gaps[i] = gap;
		gap = narrower;
	}
}

static void widen(struct shadow *shadow, struct shadow_range trap)
{
	struct shadow_range *all = &shadow->all;

	if (length(*all) == 0) {
		*all = trap;
		return;
	}
	if (trap.start > all->end)
		add_gap(shadow, (struct shadow_range){all->end, trap.start});
	if (trap.end < all->start)
		add_gap(shadow, (struct shadow_range){trap.end, all->start});
	if (trap.start < all->start)
		all->start = trap.start;
	if (trap.end > all->end)
		all->end = trap.end;
}

void shadow_add(struct shadow *shadow, struct shadow_range trap)
{
	struct shadow before;

	widen(shadow, trap);
	before = *shadow;
	memset(shadow->gaps, 0, sizeof(shadow->gaps));
	for (int i = 0; i < SHADOW_GAPS; i++) {
		struct shadow_range gap = before.gaps[i];

		if (trap.start >= gap.end || trap.end <= gap.start) {
			add_gap(shadow, gap);
			continue;
		}
		if (gap.start < trap.start)
			add_gap(shadow, (struct shadow_range){gap.start, trap.start});
		if (trap.end < gap.end)
			add_gap(shadow, (struct shadow_range){trap.end, gap.end});
	}
}

struct shadow shadow_around(struct shadow_range *traps, size_t count)
{
	struct shadow shadow = {0};

	if (count == 0)
		return shadow;
	qsort(traps, count, sizeof(*traps), compare_starts);
	shadow.all = traps[0];
	for (size_t i = 1; i < count; i++) {
		if (traps[i].start > shadow.all.end)
			add_gap(&shadow,
				(struct shadow_range){shadow.all.end, traps[i].start});
		if (traps[i].end > shadow.all.end)
			shadow.all.end = traps[i].end;
	}
	return shadow;
}
