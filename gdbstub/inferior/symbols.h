/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses of an inferior and its symbols, through elfutils' libdwfl. */
#ifndef TRUEHIT_INFERIOR_SYMBOLS_H
#define TRUEHIT_INFERIOR_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "inferior/inferior.h"

/** Symbols of one inferior as it is mapped now. */
struct symbols;

/** NULL if nothing can be read; the other functions take NULL. */
struct symbols *symbols_create(const struct inferior *inferior);
void symbols_destroy(struct symbols *symbols);

/**
 * Appends "name+0x12" ("name" at its start), or "file.so+0x1234" where no symbol
 * covers the address, or nothing where no file is mapped.
 */
void symbols_print(struct symbols *symbols, uint64_t addr, struct buffer *out);

/** The start of the function that symbols_print names, or 0. */
uint64_t symbols_start(struct symbols *symbols, uint64_t addr);

/**
 * The register, by its number in DWARF, that finds the caller's frame when the
 * instruction at @addr is next, as call frame information says; -1: none says it.
 */
int symbols_frame_register(struct symbols *symbols, uint64_t addr);

/** Has a symbol of this name, a local one too, the address? *offset: from its start. */
bool symbols_covers(struct symbols *symbols, const char *name, uint64_t addr,
		    uint64_t *offset);

/** A symbol whose address is wanted. */
struct symbol_wish {
	const char *name;
	uint64_t addr;
	bool found; /* addr holds */
};

/**
 * Finds symbols by name, local ones too, in all files at once. @wishes are sorted by
 * name (strcmp). What is found already stays as it is.
 */
void symbols_find(struct symbols *symbols, struct symbol_wish *wishes, size_t count);

#endif
