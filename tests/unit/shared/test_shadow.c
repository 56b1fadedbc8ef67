/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/shared/shadow.h"
#include "tests/unit/rng.h"

#include <criterion/criterion.h>

static void expect(struct shadow_range range, uint64_t start, uint64_t end)
{
	cr_expect_eq(range.start, start, "%#lx", (unsigned long)range.start);
	cr_expect_eq(range.end, end, "%#lx", (unsigned long)range.end);
}

Test(shadow, of_nothing)
{
	struct shadow shadow = shadow_around(NULL, 0);

	expect(shadow.all, 0, 0);
	expect(shadow.gaps[0], 0, 0);
}

Test(shadow, of_one_trap)
{
	struct shadow_range trap = {100, 101};
	struct shadow shadow = shadow_around(&trap, 1);

	expect(shadow.all, 100, 101);
	expect(shadow.gaps[0], 0, 0);
}

Test(shadow, the_widest_gaps)
{
	struct shadow_range traps[] = {{900, 901}, {100, 101}, {101, 102}, {400, 404},
				       {110, 111}, {401, 402}, {895, 896}};
	struct shadow shadow = shadow_around(traps, 7);

	expect(shadow.all, 100, 901);
	expect(shadow.gaps[0], 404, 895);
	expect(shadow.gaps[1], 111, 400);
	expect(shadow.gaps[2], 102, 110);
}

/* No byte of a trap is ever in a gap, and none is left out. */
Test(shadow, covers_every_trap)
{
	struct shadow_range traps[50];
	struct rng rng = {1};

	for (int round = 0; round < 1000; round++) {
		struct shadow shadow;

		for (int i = 0; i < 50; i++) {
			uint64_t x = rng_next(&rng);

			traps[i].start = x >> 40 << (x >> 36 & 7);
			traps[i].end = traps[i].start + 1 + (x >> 33 & 3);
		}
		shadow = shadow_around(traps, 50);
		for (int i = 0; i < 50; i++) {
			cr_assert_leq(shadow.all.start, traps[i].start);
			cr_assert_geq(shadow.all.end, traps[i].end);
			for (int gap = 0; gap < SHADOW_GAPS; gap++)
				cr_assert(shadow.gaps[gap].end <= traps[i].start ||
					  shadow.gaps[gap].start >= traps[i].end);
		}
	}
}

Test(shadow, grows_by_one)
{
	struct shadow shadow = {0};

	shadow_add(&shadow, (struct shadow_range){100, 101});
	expect(shadow.all, 100, 101);
	shadow_add(&shadow, (struct shadow_range){100, 101});
	expect(shadow.all, 100, 101);
	shadow_add(&shadow, (struct shadow_range){200, 201});
	expect(shadow.all, 100, 201);
	expect(shadow.gaps[0], 101, 200);
	shadow_add(&shadow, (struct shadow_range){50, 51});
	expect(shadow.all, 50, 201);
	expect(shadow.gaps[0], 101, 200);
	expect(shadow.gaps[1], 51, 100);
	shadow_add(&shadow, (struct shadow_range){120, 121});
	expect(shadow.gaps[0], 121, 200);
	expect(shadow.gaps[1], 51, 100);
	expect(shadow.gaps[2], 101, 120);
}

static bool covers(struct shadow_range range, uint64_t byte)
{
	return byte >= range.start && byte < range.end;
}

/* Whatever comes: no trap is outside, nor in a gap. */
Test(shadow, grown_hides_all_traps)
{
	struct rng rng = {1};

	for (int round = 0; round < 200; round++) {
		struct shadow_range traps[40];
		struct shadow shadow = {0};

		for (int i = 0; i < 40; i++) {
			traps[i].start = rng_below(&rng, 1024);
			traps[i].end = traps[i].start + 1 + rng_below(&rng, 4);
			shadow_add(&shadow, traps[i]);
			for (int j = 0; j <= i; j++) {
				uint64_t first = traps[j].start,
					 last = traps[j].end - 1;

				cr_assert(covers(shadow.all, first) &&
					  covers(shadow.all, last));
				for (int k = 0; k < SHADOW_GAPS; k++)
					cr_assert(!covers(shadow.gaps[k], first) &&
						  !covers(shadow.gaps[k], last));
			}
		}
	}
}
