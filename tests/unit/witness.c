/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/witness.h"

#include <criterion/criterion.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

int witness_writes(const volatile void *addr)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = HW_BREAKPOINT_W,
		.bp_addr = (uintptr_t)addr,
		.bp_len = HW_BREAKPOINT_LEN_8,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.inherit = 1,
	};
	const int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1,
				    PERF_FLAG_FD_CLOEXEC);

	cr_assert_geq(fd, 0, "no event can count beside the one that is tested");
	return fd;
}

void witness_need(int witness, uint64_t hits)
{
	uint64_t count;

	cr_assert_eq(read(witness, &count, sizeof(count)), sizeof(count));
	if (count < hits)
		cr_skip_test("the breakpoint registers have not seen %ju hits of %ju",
			     (uintmax_t)(hits - count), (uintmax_t)hits);
}
