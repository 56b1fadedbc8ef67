/* SPDX-License-Identifier: BSD-2-Clause */
/* The place in a file where a uprobe goes, and which mappings have the kernel's traps.
 */
#ifndef TRUEHIT_BPF_KERNEL_UPROBE_TARGET_H
#define TRUEHIT_BPF_KERNEL_UPROBE_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "gdbstub/base/error.h"
#include "gdbstub/inferior/inferior.h"
#include "gdbstub/symbols/mapping.h"

/** Where a probe goes. */
struct uprobe_target {
	char *path; /* opens the very file that the inferior has mapped, also if it was
		     * deleted or replaced, or is in another mount name space: as long
		     * as the mapping is as it was. NULL: no target */
	struct file_id file;
	uint64_t offset; /* in the file, bytes */
	uint64_t cookie; /* what a multi link's program is told (emit_where.c) */
};

/** The file of the mapping that was asked about last: of hundreds of places, most are
 * in it. All zero: none. */
struct uprobe_file {
	char *path; /* NULL: none */
	int fd;
	pid_t pid;
	uint64_t maps_number, start, end; /* of the mapping */
};

/** Forgets it. */
void uprobe_file_deinit(struct uprobe_file *file);

/**
 * Finds the place of an instruction of @len bytes. It must be in a private mapping of
 * a file that the program cannot write to, and be what the file has there: the kernel
 * runs the file's instruction. Planted traps are not seen. The error says what else
 * the memory is. @last is used, and set.
 */
struct error *uprobe_target_find(struct inferior *inferior, uint64_t addr,
				 unsigned int len, struct uprobe_file *last,
				 struct uprobe_target *ret);
/** Legal after a failed find, and twice. */
void uprobe_target_deinit(struct uprobe_target *target);

/** Is the memory at @addr mapped shared (MAP_SHARED), so that others may see stores to
 * it? False also if there is none. */
bool uprobe_memory_is_shared(const struct inferior *inferior, uint64_t addr);

/** A mapping of a file that may have the kernel's traps. */
struct uprobe_text {
	struct file_id file;
	uint64_t start, end; /* addresses */
	uint64_t offset;     /* in the file, of the start */
};

/** Which one has the address? False: none. */
bool uprobe_text_find(const struct inferior *inferior, uint64_t addr,
		      struct uprobe_text *ret);

#endif
