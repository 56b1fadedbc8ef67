/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's traps, as memory shows them. */
#ifndef TRUEHIT_BPF_UPROBE_UPROBE_TEXT_H
#define TRUEHIT_BPF_UPROBE_UPROBE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/uprobe/uprobe.h"

/** engine_ops.show_originals */
void uprobe_show_originals(struct engine *engine, const struct inferior *inferior,
			   uint64_t addr, uint8_t *data, size_t len);
/** Notes the instruction that the kernel is going to execute. 0 or a negative errno. */
int uprobe_note_insn(struct uprobe_placement *placement,
		     const struct location *location);
/** Is it what memory has? The program may have changed it after the trap. */
bool uprobe_is_insn(const struct uprobe_placement *placement);
/** Is the place of the file not mapped there any more? */
bool uprobe_has_vanished(const struct uprobe_placement *placement);

#endif
