/* SPDX-License-Identifier: BSD-2-Clause */
/* Every plan covers its region exactly, in pieces that the processor takes. */
#include "arch/aarch64/aarch64.h"
#include "arch/x86_64/x86_64.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>

struct planner {
	const char *name;
	int (*plan)(const struct hw_region *region, struct hw_region *out,
		    unsigned int max);
	bool (*legal)(const struct hw_region *piece);
};

static bool x86_64_legal(const struct hw_region *piece)
{
	unsigned int len = piece->len;

	return (len == 1 || len == 2 || len == 4 || len == 8) && piece->addr % len == 0;
}

static bool aarch64_legal(const struct hw_region *piece)
{
	return piece->len >= 1 && piece->addr % 8 + piece->len <= 8;
}

static const struct planner planners[] = {
	{"x86_64", x86_64_hw_plan, x86_64_legal},
	{"aarch64", aarch64_hw_plan, aarch64_legal},
};

enum { NPLANNERS = sizeof(planners) / sizeof(planners[0]), LEN_MAX = 80 };

static void check_plan(const struct planner *planner, const struct hw_region *region)
{
	struct hw_region pieces[LEN_MAX];
	int count = planner->plan(region, pieces, LEN_MAX);
	uint64_t addr = region->addr;

	cr_assert_gt(count, 0, "%s: %u bytes at %#lx: %d", planner->name, region->len,
		     (unsigned long)region->addr, count);
	for (int i = 0; i < count; i++) {
		cr_assert_eq(pieces[i].addr, addr, "%s: a gap or an overlap",
			     planner->name);
		cr_assert_eq(pieces[i].kind, region->kind);
		cr_assert(planner->legal(&pieces[i]), "%s: %u bytes at %#lx",
			  planner->name, pieces[i].len, (unsigned long)addr);
		addr += pieces[i].len;
	}
	cr_assert_eq(addr, region->addr + region->len, "%s: the end", planner->name);
	/* The plan is the same with just enough room, and fails with less. */
	cr_assert_eq(planner->plan(region, pieces, (unsigned int)count), count);
	cr_assert_eq(planner->plan(region, pieces, (unsigned int)count - 1), -ENOSPC);
}

Test(hw_plan, pieces_cover_the_region_exactly)
{
	static const uint64_t bases[] = {0, 0x1000, 0x7ffff7fe4b70, UINT64_MAX - 255};
	static const enum hw_kind kinds[] = {HW_WRITE, HW_ACCESS};

	for (unsigned int p = 0; p < NPLANNERS; p++)
		for (unsigned int b = 0; b < 4; b++)
			for (unsigned int offset = 0; offset < 16; offset++)
				for (unsigned int len = 1; len <= LEN_MAX; len++)
					for (unsigned int k = 0; k < 2; k++) {
						struct hw_region region = {
							kinds[k], bases[b] + offset,
							len};

						check_plan(&planners[p], &region);
					}
}

Test(hw_plan, number_of_pieces_is_least)
{
	static const struct {
		unsigned int offset, len;
		int x86_64, aarch64;
	} cases[] = {
		{0, 8, 1, 1}, {0, 1, 1, 1}, {4, 4, 1, 1}, {0, 16, 2, 2}, {0, 3, 2, 1},
		{1, 7, 3, 1}, {4, 8, 2, 2}, {1, 8, 4, 2}, {7, 2, 2, 2},	 {0, 32, 4, 4},
	};
	struct hw_region out[8];

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hw_region region = {HW_WRITE, 0x1000 + cases[i].offset,
					   cases[i].len};

		cr_expect_eq(x86_64_hw_plan(&region, out, 8), cases[i].x86_64,
			     "x86_64, case %u", i);
		cr_expect_eq(aarch64_hw_plan(&region, out, 8), cases[i].aarch64,
			     "aarch64, case %u", i);
	}
}

Test(hw_plan, impossible_lengths)
{
	struct hw_region none = {HW_WRITE, 0x1000, 0};
	struct hw_region wraps = {HW_WRITE, UINT64_MAX - 3, 5};
	struct hw_region ends = {HW_WRITE, UINT64_MAX - 3, 4};
	struct hw_region huge = {HW_WRITE, 0x1000, UINT32_MAX};
	struct hw_region out[4];

	for (unsigned int p = 0; p < NPLANNERS; p++) {
		cr_expect_eq(planners[p].plan(&none, out, 4), -EINVAL);
		cr_expect_eq(planners[p].plan(&wraps, out, 4), -EINVAL);
		cr_expect_eq(planners[p].plan(&ends, out, 4), 1);
		cr_expect_eq(planners[p].plan(&huge, out, 4), -ENOSPC);
	}
}

Test(hw_plan, execution_takes_one_slot)
{
	struct hw_region odd = {HW_EXECUTE, 0x1001, 3};
	struct hw_region even = {HW_EXECUTE, 0x1004, 4};
	struct hw_region out;

	cr_assert_eq(x86_64_hw_plan(&odd, &out, 1), 1);
	cr_assert(out.kind == HW_EXECUTE && out.addr == 0x1001 && out.len == 1);
	cr_assert_eq(x86_64_hw_plan(&odd, &out, 0), -ENOSPC);
	cr_assert_eq(aarch64_hw_plan(&even, &out, 1), 1);
	cr_assert(out.kind == HW_EXECUTE && out.addr == 0x1004 && out.len == 4);
	cr_assert_eq(aarch64_hw_plan(&even, &out, 0), -ENOSPC);
	cr_assert_eq(aarch64_hw_plan(&odd, &out, 1), -EINVAL, "not an instruction");
}

Test(hw_plan, reads_alone)
{
	struct hw_region read = {HW_READ, 0x1000, 8};
	struct hw_region out[4];

	cr_assert_eq(x86_64_hw_plan(&read, out, 4), -EOPNOTSUPP);
	cr_assert_eq(aarch64_hw_plan(&read, out, 4), 1);
	cr_assert_eq(out[0].kind, HW_READ);
}

Test(hw_plan, perf_attributes)
{
	struct hw_region execute = {HW_EXECUTE, 0x1000, 1};
	struct hw_region access = {HW_ACCESS, 0x1000, 4};
	uint32_t type;
	uint64_t len;

	x86_64_hw_perf_attr(&execute, &type, &len);
	cr_assert(type == HW_BREAKPOINT_X && len == sizeof(long));
	x86_64_hw_perf_attr(&access, &type, &len);
	cr_assert(type == HW_BREAKPOINT_RW && len == 4);
	aarch64_hw_perf_attr(&access, &type, &len);
	cr_assert(type == HW_BREAKPOINT_RW && len == 4);
}
