/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What breakpoint and watchpoint registers can do (Arm ARM, "Breakpoint and
 * Watchpoint Exceptions"; kernel arch/arm64/kernel/hw_breakpoint.c): execution
 * of one instruction; any access to 1 to 8 neighbouring bytes of one aligned
 * doubleword.
 */
#include "arch/aarch64/aarch64.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>

enum { INSN = 4, DOUBLEWORD = 8 };

static int plan_watch(const struct hw_region *region, struct hw_region *out,
		      unsigned int max)
{
	uint64_t addr = region->addr;
	unsigned int count = 0;

	if (region->len == 0 || addr + (region->len - 1) < addr)
		return -EINVAL;
	for (unsigned int left = region->len; left > 0; count++) {
		unsigned int len = DOUBLEWORD - addr % DOUBLEWORD;

		if (len > left)
			len = left;
		if (count == max)
			return -ENOSPC;
		out[count] = (struct hw_region){region->kind, addr, len};
		addr += len;
		left -= len;
	}
	return (int)count;
}

int aarch64_hw_plan(const struct hw_region *region, struct hw_region *out,
		    unsigned int max)
{
	if (region->kind != HW_EXECUTE)
		return plan_watch(region, out, max);
	if (region->addr % INSN != 0)
		return -EINVAL;
	if (max < 1)
		return -ENOSPC;
	out[0] = (struct hw_region){HW_EXECUTE, region->addr, INSN};
	return 1;
}

void aarch64_hw_perf_attr(const struct hw_region *region, uint32_t *bp_type,
			  uint64_t *bp_len)
{
	static const uint32_t types[] = {
		[HW_EXECUTE] = HW_BREAKPOINT_X,
		[HW_WRITE] = HW_BREAKPOINT_W,
		[HW_READ] = HW_BREAKPOINT_R,
		[HW_ACCESS] = HW_BREAKPOINT_RW,
	};

	*bp_type = types[region->kind];
	*bp_len = region->len;
}
