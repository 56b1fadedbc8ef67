/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that the program maps for us: of a file in memory that the server has, too. */
#ifndef TRUEHIT_PADS_PAD_MEMORY_H
#define TRUEHIT_PADS_PAD_MEMORY_H

#include "gdbstub/base/error.h"
#include "gdbstub/pads/injected_call.h"
#include "gdbstub/symbols/mapping.h"

/**
 * Maps @len bytes of nops at @addr, a private copy that can be executed: the kernel
 * takes from the file what it executes at a probe. *fd: of the file, which the caller
 * closes.
 */
struct error *pad_memory_map_code(struct injection *injection, uint64_t addr,
				  size_t len, int *fd);
/** Maps zeros at @addr, which both can write to: *memory, the server's (server_word.h).
 * A forked child has them, too: it may come to pads when the server has been killed. */
struct error *pad_memory_map_shared(struct injection *injection, uint64_t addr,
				    void **memory);
/** Is that a mapping of code, of this server or another one? */
bool pad_memory_is_code(const struct mapping *mapping);
/** ... of the memory that filters share with a server? */
bool pad_memory_is_shared(const struct mapping *mapping);
void pad_memory_unmap(struct injection *injection, uint64_t addr, size_t len);

#endif
