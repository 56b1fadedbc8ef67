/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hardware engine for people: what was counted, what was missed, and where
 * conditions are decided.
 */
#include <inttypes.h>
#include <unistd.h>

#include "bpf/perf_event.h"

struct bpf_location_counts *perf_event_kernel_counts(struct perf_event *state,
						     const struct placement *placement)
{
	return &state->kernel.shared->locations[placement->program->location];
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
	uint64_t seen =
		placement->forgotten + perf_event_kernel_counts(state, placement)->hits;
	uint64_t counted = event_count(placement);

	return counted > seen ? counted - seen : 0;
}

void perf_event_counts(struct engine *engine, const struct location *location,
		       struct location_counts *counts)
{
	const struct placement *placement = location->engine_data;
	const struct bpf_location_counts *in_kernel =
		perf_event_kernel_counts(engine->state, placement);

	counts->hits += in_kernel->hits;
	counts->maybes += in_kernel->maybes;
	if (placement->program->refused)
		counts->maybes += in_kernel->trues;
	else
		counts->trues += in_kernel->trues;
}

void perf_event_reset_counts(struct engine *engine, struct location *location)
{
	struct placement *placement = location->engine_data;
	struct bpf_location_counts *counts =
		perf_event_kernel_counts(engine->state, placement);

	placement->forgotten += counts->hits;
	/* Lost records are no statistics: on_stop has yet to make up for them. */
	*counts = (struct bpf_location_counts){.lost = counts->lost};
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
	else if (program->undecided)
		buffer_printf(out, "kernel; maybe: %s", program->undecided);
	else
		buffer_append_string(out, "kernel");
	if (missed > 0)
		buffer_printf(out, "; %" PRIu64 " hits missed", missed);
}
