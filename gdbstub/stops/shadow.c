/* SPDX-License-Identifier: BSD-2-Clause */
#include "stops/shadow.h"

#include <stdlib.h>

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
