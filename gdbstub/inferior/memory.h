/* SPDX-License-Identifier: BSD-2-Clause */
/* An inferior's memory, and the file through which it is reached. */
#ifndef TRUEHIT_INFERIOR_MEMORY_H
#define TRUEHIT_INFERIOR_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "gdbstub/inferior/inferior.h"

/**
 * Reads the inferior's memory as it is (planted traps included; see
 * breakpoints_read_memory). Returns the number of bytes read, which is short
 * if the rest is unreadable, or a negative errno if nothing could be read.
 * Works while threads run, and on pages without read permission.
 */
ssize_t inferior_read(struct inferior *inferior, uint64_t addr, void *data, size_t len);
/** Writes everything or fails: 0 or a negative errno. Read-only pages too. */
int inferior_write(struct inferior *inferior, uint64_t addr, const void *data,
		   size_t len);

/**
 * The memory's file is opened at the first access. It stays with the address space that
 * the process has then: this closes it after an exec.
 */
void memory_close(struct inferior *inferior);

#endif
