/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that a program maps for the client (lldb's _M and _m), which keeps code and
 * values of expressions there. What is left of it is unmapped when the program is let
 * go.
 */
#ifndef TRUEHIT_PADS_CLIENT_MEMORY_H
#define TRUEHIT_PADS_CLIENT_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "gdbstub/base/error.h"
#include "gdbstub/inferior/inferior.h"

/** Maps zeros where the kernel likes. @protection: of mmap(2). All threads are held. */
struct error *client_memory_map(struct inferior *inferior, uint64_t len, int protection,
				uint64_t *addr);
/** @addr: as client_memory_map returned it. */
struct error *client_memory_unmap(struct inferior *inferior, uint64_t addr);
/** Unmaps all of it; @gone: it is no longer there. */
void client_memory_remove(struct inferior *inferior, bool gone);

#endif
