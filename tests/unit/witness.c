/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/witness.h"

#include <criterion/criterion.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

static int count_at(unsigned int type, uintptr_t addr, unsigned int len, pid_t tid)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = type,
		.bp_addr = addr,
		.bp_len = len,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.inherit = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1,
			    PERF_FLAG_FD_CLOEXEC);
}

int witness_writes(const volatile void *addr)
{
	const int fd =
		count_at(HW_BREAKPOINT_W, (uintptr_t)addr, HW_BREAKPOINT_LEN_8, 0);

	cr_assert_geq(fd, 0, "no event can count beside the one that is tested");
	return fd;
}

int witness_runs(uintptr_t function, pid_t tid)
{
	/* The length of an instruction is the architecture's: linux/hw_breakpoint.h. */
	int fd = count_at(HW_BREAKPOINT_X, function, sizeof(long), tid);

	if (fd < 0)
		fd = count_at(HW_BREAKPOINT_X, function, HW_BREAKPOINT_LEN_4, tid);
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
