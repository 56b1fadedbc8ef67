/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/placement/placement.h"

#include <stdlib.h>
#include <string.h>

#include "gdbstub/base/descriptors.h"
#include "bpf/placement/placement_stop.h"

struct placements *placements_create(void)
{
	struct placements *placements = calloc(1, sizeof(*placements));

	if (!placements)
		abort();
	TAILQ_INIT(&placements->list);
	records_init(&placements->records);
	bpf_kernel_log();
	placements->unusable =
		bpf_kernel_init(&placements->kernel, placements_on_record, placements);
	if (!placements->unusable)
		bpf_kernel_hold_word(&placements->kernel);
	return placements;
}

void placements_destroy(struct placements *placements)
{
	bpf_kernel_deinit(&placements->kernel);
	records_deinit(&placements->records);
	error_destroy(placements->unusable);
	free(placements);
}

struct bpf_location *placement_shared(const struct placement *placement,
				      const struct placements *placements)
{
	return &placements->kernel.shared->locations[placement->index];
}

struct error *placement_init(struct placement *placement, struct engine *engine,
			     struct programs *programs, struct location *location,
			     const struct bpf_site *site)
{
	struct placements *placements = engine->placements;
	struct error *error;
	int index;

	if (descriptors_are_short())
		return descriptors_error("the kernel gets no program for it");
	error = program_get(programs, &location->conditions, &location->commands.list,
			    site, &placement->program);
	if (error)
		return error;
	index = program_take_location(programs, placement->program);
	if (index < 0) {
		program_put(programs, placement->program);
		return program_error(index);
	}
	placement->index = (unsigned int)index;
	placement->engine = engine;
	placement->location = location;
	placement->programs = programs;
	placement_shared(placement, placements)->gate = location->gate;
	placement_shared(placement, placements)->last = location->watch.last;
	TAILQ_INSERT_TAIL(&placements->list, placement, link);
	placements->by_index[index] = placement;
	placements->any_commands |= location->commands.list.count > 0;
	return NULL;
}

void placement_retire(struct placement *placement, struct placements *placements)
{
	bpf_kernel_drain(&placements->kernel);
	records_forget_location(&placements->records, placement->index);
	TAILQ_REMOVE(&placements->list, placement, link);
	placements->by_index[placement->index] = NULL;
	placement->location->gate = placement_shared(placement, placements)->gate;
	placement->location->watch.last = placement_shared(placement, placements)->last;
}

void placement_deinit(struct placement *placement)
{
	if (!placement->program)
		return;
	program_give_location(placement->programs, placement->program,
			      placement->index);
	program_put(placement->programs, placement->program);
	placement->program = NULL;
}

void placement_thread_added(const struct placement *placement,
			    const struct placements *placements,
			    const struct thread *thread)
{
	struct bpf_shared *shared = placements->kernel.shared;
	unsigned int location = placement->index;
	uint32_t tid = (uint32_t)thread->tid;

	tally_retire(shared, location, tid);
	tally_make_room(shared, location, tid, placement_thread_ended);
}

struct placement *placements_find(const struct placements *placements, uint64_t index)
{
	return index < BPF_LOCATIONS_MAX ? placements->by_index[index] : NULL;
}

void placements_set_shadow(struct placements *placements, const struct shadow *shadow)
{
	struct bpf_shared *shared = placements->kernel.shared;

	if (placements->unusable)
		return;
	shared->shadow_start = shadow->all.start;
	shared->shadow_end = shadow->all.end;
	memcpy(shared->shadow_gaps, shadow->gaps, sizeof(shared->shadow_gaps));
}

struct gate *placement_gate(struct engine *engine, const struct location *location)
{
	return &placement_shared(location->engine_data, engine->placements)->gate;
}

struct watch_last *placement_last(struct engine *engine,
				  const struct location *location)
{
	return &placement_shared(location->engine_data, engine->placements)->last;
}
