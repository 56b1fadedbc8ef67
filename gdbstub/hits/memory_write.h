/* SPDX-License-Identifier: BSD-2-Clause */
/* The client writes memory, where traps may be. */
#ifndef TRUEHIT_HITS_MEMORY_WRITE_H
#define TRUEHIT_HITS_MEMORY_WRITE_H

#include <stdint.h>
#include <sys/types.h>

#include "gdbstub/breakpoints/breakpoints.h"

/** As inferior_write, but planted traps survive a write over them. */
int breakpoints_write_memory(struct inferior *inferior, uint64_t addr, const void *data,
			     size_t len);

#endif
