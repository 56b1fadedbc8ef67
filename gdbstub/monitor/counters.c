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
#include "gdbstub/control/counter.h"
#include "gdbstub/control/retired_event.h"

enum { TURNS = 1000000 };

static const struct {
	const char *name;
	uint64_t config;
	unsigned int of_turn; /* at least so many; 0: not known */
} events[EVENT_COUNTS] = {
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

static enum count_verdict judge(const struct event_count *count, unsigned int of_turn)
{
	if (count->err < 0)
		return COUNT_REFUSED;
	if (count->first == 0 || count->first < (uint64_t)of_turn * TURNS)
		return COUNT_TOO_FEW;
	if (of_turn == 0)
		return COUNT_UNKNOWN;
	return count->first == count->second ? COUNT_EXACT : COUNT_INEXACT;
}

void counters_count(struct event_count *ret)
{
	for (unsigned int i = 0; i < EVENT_COUNTS; i++) {
		_cleanup_close_ int fd = open_counter(events[i].config);
		struct event_count *count = &ret[i];

		*count = (struct event_count){.name = events[i].name};
		count->err = fd < 0 ? fd : count_loop(fd, &count->first);
		if (count->err == 0)
			count->err = count_loop(fd, &count->second);
		count->verdict = judge(count, events[i].of_turn);
	}
}

static void show(const struct event_count *count, struct buffer *out)
{
	if (count->verdict == COUNT_REFUSED) {
		buffer_printf(out, "%s: %s\n", count->name,
			      counter_refusal(count->err));
		return;
	}
	buffer_printf(out, "%s: %ju in a loop of %d turns", count->name,
		      (uintmax_t)count->first, TURNS);
	if (count->verdict == COUNT_TOO_FEW)
		buffer_append_string(out, ", which are too few: not usable");
	else if (count->verdict == COUNT_EXACT)
		buffer_append_string(out, ", the same twice: exact");
	else if (count->verdict == COUNT_INEXACT)
		buffer_printf(out, ", then %ju: not exact", (uintmax_t)count->second);
	buffer_append_char(out, '\n');
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

void counters_print(const struct event_count *counts, struct counter_findings *findings,
		    struct buffer *out)
{
	for (unsigned int i = 0; i < EVENT_COUNTS; i++)
		show(&counts[i], out);
	for (unsigned int i = 0; i < RETIRED_EVENTS; i++)
		show_until_count((enum retired_event)i,
				 counter_find(findings, (enum retired_event)i), out);
}

void counters_show(struct counter_findings *findings, struct buffer *out)
{
	struct event_count counts[EVENT_COUNTS];

	counters_count(counts);
	counters_print(counts, findings, out);
}

/* ---- for scripts ---- */

static void write_count(struct json *json, const struct event_count *count)
{
	json_open(json, NULL, '{');
	json_text(json, "event", count->name);
	json_bool(json, "usable",
		  count->verdict != COUNT_REFUSED && count->verdict != COUNT_TOO_FEW);
	if (count->verdict == COUNT_EXACT || count->verdict == COUNT_INEXACT)
		json_bool(json, "exact", count->verdict == COUNT_EXACT);
	else
		json_text(json, "exact", NULL);
	json_text(json, "why_not",
		  count->verdict == COUNT_REFUSED ? counter_refusal(count->err)
		  : count->verdict == COUNT_TOO_FEW
			  ? "it has counted less than was executed"
			  : NULL);
	json_close(json, '}');
}

static void write_until_count(struct json *json, enum retired_event event,
			      const struct counter_finding *finding)
{
	json_open(json, NULL, '{');
	json_text(json, "event", retired_event_name(event));
	json_bool(json, "usable", finding->usable);
	json_text(json, "why_not", finding->usable ? NULL : finding->why_not);
	json_close(json, '}');
}

void counters_write(struct json *json, const struct event_count *counts,
		    const struct counter_findings *findings)
{
	json_open(json, "counters", '[');
	for (unsigned int i = 0; i < EVENT_COUNTS; i++)
		write_count(json, &counts[i]);
	json_close(json, ']');
	json_open(json, "until_count", '[');
	for (unsigned int i = 0; i < RETIRED_EVENTS; i++)
		write_until_count(json, (enum retired_event)i, &findings->of[i]);
	json_close(json, ']');
}

void counters_show_json(struct counter_findings *findings, struct buffer *out)
{
	struct event_count counts[EVENT_COUNTS];
	struct json json = {out, true};

	counters_count(counts);
	for (unsigned int i = 0; i < RETIRED_EVENTS; i++)
		counter_find(findings, (enum retired_event)i);
	json_open(&json, NULL, '{');
	counters_write(&json, counts, findings);
	json_close(&json, '}');
	buffer_append_char(out, '\n');
}
