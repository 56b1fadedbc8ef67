/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/monitor/counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gdbstub/base/cleanup.h"
#include "gdbstub/control/retired_event.h"

enum { TURNS = 1000000 };

static const struct {
	const char *name;
	uint64_t config;
	unsigned int of_turn; /* at least so many; 0: not known */
} events[] = {
	{"instructions", PERF_COUNT_HW_INSTRUCTIONS, 2},
	{"branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 1},
	{"cycles", PERF_COUNT_HW_CPU_CYCLES, 0},
};

/* A turn is two instructions at least, of which one is a branch. */
static void run_loop(void)
{
	for (unsigned int i = 0; i < TURNS; i++)
		__asm__ volatile("" : : "r"(i) : "memory");
}

/* Of this thread, in user mode. */
static int open_counter(uint64_t config)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = config,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	const int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1,
				    PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* 0 or a negative errno. */
static int count_loop(int fd, uint64_t *ret)
{
	if (ioctl(fd, PERF_EVENT_IOC_RESET, 0) < 0 ||
	    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
		return -errno;
	run_loop();
	if (ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) < 0)
		return -errno;
	return read(fd, ret, sizeof(*ret)) == (ssize_t)sizeof(*ret) ? 0 : -EIO;
}

static void show(const char *name, uint64_t first, uint64_t second, uint64_t least,
		 struct buffer *out)
{
	buffer_printf(out, "%s: %ju in a loop of %d turns", name, (uintmax_t)first,
		      TURNS);
	if (first == 0 || first < least)
		buffer_append_string(out, ", which are too few: not usable\n");
	else if (least == 0)
		buffer_append_string(out, "\n");
	else if (first == second)
		buffer_append_string(out, ", the same twice: exact\n");
	else
		buffer_printf(out, ", then %ju: not exact\n", (uintmax_t)second);
}

static void show_until_count(enum retired_event event,
			     const struct counter_finding *finding, struct buffer *out)
{
	buffer_printf(out, "until-count %s: ", retired_event_name(event));
	if (finding->usable)
		buffer_printf(out,
			      "by the processor, the last %ju by steps; its "
			      "interrupt came %ju late\n",
			      (uintmax_t)finding->skid, (uintmax_t)finding->late);
	else
		buffer_printf(out, "by steps: %s\n", finding->why_not);
}

void counters_show(struct counter_findings *findings, struct buffer *out)
{
	for (unsigned int i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		_cleanup_close_ int fd = open_counter(events[i].config);
		uint64_t first = 0, second = 0;
		int err = fd < 0 ? fd : count_loop(fd, &first);

		if (err == 0)
			err = count_loop(fd, &second);
		if (err < 0)
			buffer_printf(out, "%s: %s\n", events[i].name,
				      counter_refusal(err));
		else
			show(events[i].name, first, second,
			     (uint64_t)events[i].of_turn * TURNS, out);
	}
	for (unsigned int i = 0; i < RETIRED_EVENTS; i++)
		show_until_count((enum retired_event)i,
				 counter_find(findings, (enum retired_event)i), out);
}
