/* SPDX-License-Identifier: BSD-2-Clause */
/* Stops at uprobes: back before the instruction, and on after it. */
#ifndef TRUEHIT_BPF_UPROBE_UPROBE_STOP_H
#define TRUEHIT_BPF_UPROBE_UPROBE_STOP_H

#include <stdbool.h>

#include "bpf/uprobe/uprobe.h"

/** Puts the thread back before the instruction (placement.taken). */
bool uprobe_undo(struct placement *placement, const struct event *event,
		 const struct bpf_hit_record *record, struct hits *hits);
/** A trap that the kernel has not taken for its own: the program has moved its text to
 * other memory. The thread is put back to it. */
void uprobe_take_moved(struct engine *engine, const struct event *event,
		       struct hits *hits);
/** engine_ops.pass */
void uprobe_pass(struct engine *engine, struct thread *thread);

#endif
