/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the C library of an inferior keeps what debuggers need to know of its
 * threads: symbols that its ELF files tell, or, where they are stripped, the client.
 */
#ifndef TRUEHIT_SYMBOLS_THREAD_SYMBOLS_H
#define TRUEHIT_SYMBOLS_THREAD_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gdbstub/inferior/inferior.h"
#include "gdbstub/symbols/symbols.h"

/** All zero: empty. */
struct thread_symbols {
	struct thread_symbol *rows; /* sorted by name */
	size_t count;
	uint64_t maps_hash;   /* of the mappings whose files were read last; 0: none */
	uint64_t maps_number; /* ... as of maps.h, if they were read at all; 0: anew */
	bool from_client;     /* the client knew what the files do not tell */
};

void thread_symbols_deinit(struct thread_symbols *symbols);

/** Adds names (NULL-terminated, copied) to those that are looked up. 0 or -ENOMEM. */
int thread_symbols_add(struct thread_symbols *symbols, const char *const *names);
/**
 * Looks in the files that are mapped now for what is not known yet. Cheap if
 * nothing was mapped since the last time.
 */
void thread_symbols_read(struct thread_symbols *symbols, struct inferior *inferior);
/** False: not known; then it is remembered as missing. */
bool thread_symbols_find(struct thread_symbols *symbols, const char *name,
			 uint64_t *addr);

/**
 * The name to ask the client for, or NULL: what was missing when it was looked for.
 * Where the client knew better than the files once, everything that is not known.
 * A name is asked for once. Owned by @symbols.
 */
const char *thread_symbols_ask(struct thread_symbols *symbols);
/** The client's answer to thread_symbols_ask. Unknown names are ignored. */
void thread_symbols_answer(struct thread_symbols *symbols, const char *name,
			   uint64_t addr);
/** The client may know more than it did: everything may be asked for again. */
void thread_symbols_ask_again(struct thread_symbols *symbols);

#endif
