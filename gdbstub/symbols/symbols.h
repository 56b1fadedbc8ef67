/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses of an inferior and its symbols. Its files are read by another process
 * (symbols_reader.h), for ten seconds at most from symbols_create on, and not once the
 * server is asked to end or the client has gone; what is not known therefore is left
 * out, and a warning says so.
 */
#ifndef TRUEHIT_SYMBOLS_SYMBOLS_H
#define TRUEHIT_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gdbstub/base/buffer.h"
#include "gdbstub/inferior/inferior.h"

/** Symbols of one inferior as it is mapped now. */
struct symbols;

/** NULL if nothing can be read; the other functions take NULL. */
struct symbols *symbols_create(struct inferior *inferior);
void symbols_destroy(struct symbols *symbols);

/**
 * Appends "name+0x12" ("name" at its start), as the source has the name if that is
 * known, or "file.so+0x1234" where no symbol covers the address, or nothing where no
 * file is mapped.
 */
void symbols_print(struct symbols *symbols, uint64_t addr, struct buffer *out);

/** The name as it is in the file, until the next question; NULL: none covers the
 * address. *offset: from its start. */
const char *symbols_name(struct symbols *symbols, uint64_t addr, uint64_t *offset);

/** Appends what could not be found out, and why, a line for each file; mostly nothing.
 */
void symbols_print_unread(const struct symbols *symbols, struct buffer *out);

/** The start of the function that symbols_print names, or 0. */
uint64_t symbols_start(struct symbols *symbols, uint64_t addr);

/**
 * The register, by its number in DWARF, that finds the caller's frame when the
 * instruction at @addr is next, as call frame information says; -1: none says it.
 */
int symbols_frame_register(struct symbols *symbols, uint64_t addr);

/**
 * Code that has @addr, at whose start an instruction begins and at whose end one ends,
 * as call frame information or a symbol's size says. False: nothing says it.
 */
bool symbols_code_around(struct symbols *symbols, uint64_t addr, uint64_t *start,
			 uint64_t *end);

/** Is it an address where debuggers have breakpoints of their own, which are none of
 * their users: to hear of libraries, or of code that is made (JIT)? */
bool symbols_is_hook(struct symbols *symbols, uint64_t addr);

/** Restartable sequences (rseq(2)) of a file, as its section __rseq_cs tells. */
enum symbols_sequences {
	SEQUENCES_NONE,	     /* it has none, or nobody can tell */
	SEQUENCES_ELSEWHERE, /* none that has the address */
	SEQUENCES_COVER,     /* one has the address */
};

/** Is the instruction at @addr in one? */
enum symbols_sequences symbols_sequences(struct symbols *symbols, uint64_t addr);

/**
 * Is the instruction at @addr in a file of a language whose threads have small stacks,
 * of which every byte may be in use (Go, OCaml 5)? True as well: in no file, as what a
 * program makes when it runs may be of such a language.
 */
bool symbols_small_stacks(struct symbols *symbols, uint64_t addr);

/** Has a symbol of this name (demangle_is_named), a local one too, the address?
 * *offset: from its start. */
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
 * name (strcmp). What is found already stays as it is. Of more than READER_FOUND_MAX
 * or 32 KiB of names some are not looked for.
 */
void symbols_find(struct symbols *symbols, struct symbol_wish *wishes, size_t count);

#endif
