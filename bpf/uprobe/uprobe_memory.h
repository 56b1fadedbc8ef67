/* SPDX-License-Identifier: BSD-2-Clause */
/* Who else sees what an instruction stores. */
#ifndef TRUEHIT_BPF_UPROBE_UPROBE_MEMORY_H
#define TRUEHIT_BPF_UPROBE_UPROBE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/uprobe/uprobe.h"

/** Is there another thread that could see what the instruction stores, and that this is
 * undone, be it one of another process that shares the memory? */
bool uprobe_has_witnesses(const struct uprobe_placement *placement,
			  const struct inferior *inferior);
/** Would it now store to memory that is mapped shared? */
bool uprobe_stores_to_shared(const struct uprobe_placement *placement,
			     const struct location *location);
/** Has it stored to such memory? The bytes have just been read. */
bool uprobe_has_stored_to_shared(const struct uprobe_placement *placement,
				 const struct inferior *inferior, uint64_t addr,
				 unsigned int len);

#endif
