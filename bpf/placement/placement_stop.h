/* SPDX-License-Identifier: BSD-2-Clause */
/* Records from the kernel, and which hits a stop of a thread stands for. */
#ifndef TRUEHIT_BPF_PLACEMENT_PLACEMENT_STOP_H
#define TRUEHIT_BPF_PLACEMENT_PLACEMENT_STOP_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/placement/placement.h"

bool placement_thread_ended(uint32_t tid);
/** Keeps a record from the ring; data: the struct placements. */
void placements_on_record(void *data, const struct bpf_hit_record *record);
/** Takes the records of the thread that has stopped: engine_ops.on_stop, but for the
 * signals that events raise by themselves. */
void placements_on_stop(struct placements *placements, const struct event *event,
			struct hits *hits);
/** engine_ops.has_hit. */
bool placements_have_hit(struct placements *placements, const struct thread *thread,
			 uint64_t addr);
/** Was there a hit whose record did not fit into the ring? Then it is a maybe. */
bool placement_take_lost(struct placement *placement,
			 const struct placements *placements, struct hits *hits);

#endif
