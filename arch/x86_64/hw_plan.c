/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the four debug registers can do (Intel SDM volume 3, "Debug, Branch
 * Profile"; kernel arch/x86/kernel/hw_breakpoint.c): execution at one address,
 * writes or any access to 1, 2, 4 or 8 bytes aligned to their length. There is
 * no watching of reads alone.
 */
#include "arch/x86_64/x86_64.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>

enum { SLOTS = 4, PIECE_MAX = 8 };

unsigned int x86_64_hw_slots(enum hw_kind kind, bool *shared)
{
	*shared = true;
	return kind == HW_READ ? 0 : SLOTS;
}

/* The longest legal piece at @addr that is not longer than @len. */
static unsigned int piece_len(uint64_t addr, unsigned int len)
{
	unsigned int piece = PIECE_MAX;

	while (piece > len || addr % piece != 0)
		piece /= 2;
	return piece;
}

static int plan_watch(const struct hw_region *region, struct hw_region *out,
		      unsigned int max)
{
	uint64_t addr = region->addr;
	unsigned int count = 0;

	if (region->len == 0 || addr + (region->len - 1) < addr)
		return -EINVAL;
	for (unsigned int left = region->len; left > 0; count++) {
		unsigned int len = piece_len(addr, left);

		if (count == max)
			return -ENOSPC;
		out[count] = (struct hw_region){region->kind, addr, len};
		addr += len;
		left -= len;
	}
	return (int)count;
}

int x86_64_hw_plan(const struct hw_region *region, struct hw_region *out,
		   unsigned int max)
{
	switch (region->kind) {
	case HW_EXECUTE:
		if (max < 1)
			return -ENOSPC;
		out[0] = (struct hw_region){HW_EXECUTE, region->addr, 1};
		return 1;
	case HW_WRITE:
	case HW_ACCESS:
		return plan_watch(region, out, max);
	case HW_READ:
		break;
	}
	return -EOPNOTSUPP;
}

void x86_64_hw_perf_attr(const struct hw_region *region, uint32_t *bp_type,
			 uint64_t *bp_len)
{
	static const uint32_t types[] = {
		[HW_EXECUTE] = HW_BREAKPOINT_X,
		[HW_WRITE] = HW_BREAKPOINT_W,
		[HW_READ] = HW_BREAKPOINT_R,
		[HW_ACCESS] = HW_BREAKPOINT_RW,
	};

	*bp_type = types[region->kind];
	/* For execution the kernel takes nothing but the size of a long. */
	*bp_len = region->kind == HW_EXECUTE ? sizeof(long) : region->len;
}
