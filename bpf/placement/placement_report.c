/* SPDX-License-Identifier: BSD-2-Clause */
/* For people: what was counted, and where conditions are decided. */
#include "bpf/placement/placement_report.h"

#include <inttypes.h>

#include "bpf/placement/placement.h"
#include "gdbstub/breakpoints/watch.h"

static uint64_t sum(const struct tally_hits *hits)
{
	return hits->by[BPF_FALSE] + hits->by[BPF_TRUE] + hits->by[BPF_MAYBE];
}

uint64_t placement_hits_seen(const struct placement *placement,
			     const struct placements *placements)
{
	struct tally_hits hits =
		tally_total(placements->kernel.shared, placement->index);

	return placement->forgotten + sum(&hits);
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

void placement_counts(struct engine *engine, const struct location *location,
		      struct counts *counts)
{
	const struct placement *placement = location->engine_data;

	tally_each(engine->placements->kernel.shared, placement->index, add_hits,
		   counts);
}

static void forget(void *data, uint32_t tid, const struct tally_hits *hits)
{
	struct placement *placement = data;

	(void)tid;
	placement->forgotten += sum(hits);
}

void placement_reset_counts(struct engine *engine, struct location *location)
{
	struct placement *placement = location->engine_data;

	tally_take(engine->placements->kernel.shared, placement->index, forget,
		   placement);
	placement_shared(placement, engine->placements)->uncaptured = 0;
}

/* Where commands run, if there are any. */
static void describe_commands(const struct program *program, uint64_t by_stub,
			      struct buffer *out)
{
	if (program->refused)
		return;
	if (program->code.uncaptured)
		buffer_printf(out, "; commands by the stub: %s",
			      program->code.uncaptured);
	else if (by_stub > 0)
		buffer_printf(out, "; commands of %" PRIu64 " hits by the stub",
			      by_stub);
}

void placement_describe(struct engine *engine, const struct location *location,
			struct buffer *out)
{
	const struct placement *placement = location->engine_data;
	const struct program *program = placement->program;

	if (program->refused)
		buffer_printf(out, "stub; the kernel refused the program: %s",
			      program->refused);
	else if (program->code.undecided)
		buffer_printf(out, "kernel; maybe: %s", program->code.undecided);
	else
		buffer_append_string(out, watch_tells_all(location) ? "gdb" : "kernel");
	describe_commands(program,
			  placement_shared(placement, engine->placements)->uncaptured,
			  out);
}
