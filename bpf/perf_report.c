/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hardware engine for people: what was counted, what was missed, and where
 * conditions are decided.
 */
#include <inttypes.h>
#include <unistd.h>

#include "bpf/perf_event.h"

/* What programs count, by verdict. */
static struct tally_hits kernel_hits(struct perf_event *state,
				     const struct placement *placement)
{
	return tally_total(state->kernel.shared, placement->program->location);
}

static uint64_t sum(const struct tally_hits *hits)
{
	return hits->by[BPF_FALSE] + hits->by[BPF_TRUE] + hits->by[BPF_MAYBE];
}

/* What the events themselves have counted, those of new threads included. */
static uint64_t event_count(const struct placement *placement)
{
	uint64_t total = 0;

	for (size_t i = 0; i < placement->nfds; i++) {
		uint64_t count;

		if (read(placement->fds[i], &count, sizeof(count)) == sizeof(count))
			total += count;
	}
	return total;
}

/*
 * Hits that no program has seen: on a CPU where bpf_prog_active is raised (a task
 * that was preempted inside a map operation of bpf(2), on kernels that preempt
 * there) the kernel runs no program and takes that for its 0
 * (kernel/events/core.c, bpf_overflow_handler). Nothing can be done then, but the
 * user has to know.
 */
static uint64_t missed_hits(struct perf_event *state, const struct placement *placement)
{
	struct tally_hits hits = kernel_hits(state, placement);
	uint64_t seen = placement->forgotten + sum(&hits);
	uint64_t counted = event_count(placement);

	return counted > seen ? counted - seen : 0;
}

static void add_hits(void *data, uint32_t tid, const struct tally_hits *hits)
{
	const struct hit_counts counts = {
		.hits = sum(hits),
		.trues = hits->by[BPF_TRUE],
		.maybes = hits->by[BPF_MAYBE],
	};

	counts_add(data, (pid_t)tid, &counts);
}

void perf_event_counts(struct engine *engine, const struct location *location,
		       struct counts *counts)
{
	struct perf_event *state = engine->state;
	const struct placement *placement = location->engine_data;

	tally_each(state->kernel.shared, placement->program->location, add_hits,
		   counts);
}

static void forget(void *data, uint32_t tid, const struct tally_hits *hits)
{
	struct placement *placement = data;

	(void)tid;
	placement->forgotten += sum(hits);
}

void perf_event_reset_counts(struct engine *engine, struct location *location)
{
	struct perf_event *state = engine->state;
	struct placement *placement = location->engine_data;

	tally_take(state->kernel.shared, placement->program->location, forget,
		   placement);
	state->kernel.shared->locations[placement->program->location].uncaptured = 0;
}

/* Where commands run, if there are any. */
static void describe_commands(const struct perf_event *state,
			      const struct program *program, struct buffer *out)
{
	uint64_t by_stub =
		state->kernel.shared->locations[program->location].uncaptured;

	if (program->refused)
		return;
	if (program->code.uncaptured)
		buffer_printf(out, "; commands by the stub: %s",
			      program->code.uncaptured);
	else if (by_stub > 0)
		buffer_printf(out, "; commands of %" PRIu64 " hits by the stub",
			      by_stub);
}

void perf_event_describe(struct engine *engine, const struct location *location,
			 struct buffer *out)
{
	const struct placement *placement = location->engine_data;
	const struct program *program = placement->program;
	uint64_t missed = missed_hits(engine->state, placement);

	if (program->refused)
		buffer_printf(out, "stub; the kernel refused the program: %s",
			      program->refused);
	else if (program->code.undecided)
		buffer_printf(out, "kernel; maybe: %s", program->code.undecided);
	else
		buffer_append_string(out, "kernel");
	describe_commands(engine->state, program, out);
	if (missed > 0)
		buffer_printf(out, "; %" PRIu64 " hits missed", missed);
}
