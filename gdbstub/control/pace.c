/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/control/pace.h"

#include <time.h>

#include "gdbstub/locations/location.h"

static uint64_t read_clock(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now) != 0)
		return 0;
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void pace_set_running(struct run *run, bool running)
{
	const uint64_t now = read_clock(CLOCK_MONOTONIC);

	if (run->running)
		run->ran_ns += now - run->running_since;
	run->running_since = now;
	run->running = running;
}

uint64_t pace_ran(const struct run *run)
{
	if (!run->running)
		return run->ran_ns;
	return run->ran_ns + read_clock(CLOCK_MONOTONIC) - run->running_since;
}

/* 0: it has ended. */
static uint64_t used(const struct inferior *inferior)
{
	clockid_t clock;

	return clock_getcpuclockid(inferior->pid, &clock) == 0 ? read_clock(clock) : 0;
}

static struct count_mark mark_now(const struct inferior *inferior)
{
	const struct run *run = inferior->owner ? inferior->owner->controller : NULL;

	return (struct count_mark){.ran_ns = run ? pace_ran(run) : 0,
				   .used_ns = used(inferior)};
}

void pace_begin(struct location *location)
{
	location->begun = location->shown = mark_now(location->inferior);
}

struct count_mark pace_mark(const struct location *location)
{
	struct count_mark mark = mark_now(location->inferior);

	mark.counts = location_count(location);
	return mark;
}

static uint64_t difference(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

struct count_mark pace_between(const struct count_mark *from,
			       const struct count_mark *to)
{
	return (struct count_mark){
		.ran_ns = difference(from->ran_ns, to->ran_ns),
		.used_ns = difference(from->used_ns, to->used_ns),
		.counts = {.hits = difference(from->counts.hits, to->counts.hits),
			   .trues = difference(from->counts.trues, to->counts.trues),
			   .maybes =
				   difference(from->counts.maybes, to->counts.maybes)},
	};
}
