/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Uprobes in pads (gdbstub/pads/pad.h): the kernel's trap is at a nop, which it
 * emulates, and the thread stops before the instruction that the pad stands in for.
 */
#ifndef TRUEHIT_BPF_UPROBE_UPROBE_SITE_H
#define TRUEHIT_BPF_UPROBE_UPROBE_SITE_H

#include "bpf/uprobe/uprobe.h"

/** engine_ops.note_hot */
unsigned int uprobe_note_hot(struct engine *engine, bool *any);

/** Where the probe goes: in the pad, or at the instruction. The caller deinitialises
 * *ret. 0 or -ENOMEM. */
int uprobe_site_target(const struct uprobe_placement *placement,
		       struct uprobe_target *ret);
/** Hits count from now on. */
void uprobe_site_arm(const struct uprobe_placement *placement);
/** The kernel has planted its trap, or has it? Then the jump to it is planted, too, if
 * it is in a pad. */
bool uprobe_site_plant(const struct uprobe_placement *placement);

#endif
