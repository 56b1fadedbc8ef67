/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The symbols of one ELF file, through elfutils' libdwfl, as it is mapped somewhere.
 * Files of others may be made to harm their reader, which libdw and its helpers that
 * unpack are not proof against: only the symbols reader calls this (symbols_reader.h).
 */
#ifndef TRUEHIT_SYMBOLS_ELF_SYMBOLS_H
#define TRUEHIT_SYMBOLS_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "gdbstub/symbols/symbols.h"

struct elf_symbols;

/** Takes the descriptor over. NULL: it cannot be read, or there is no memory. */
struct elf_symbols *elf_symbols_create(int fd, uint64_t start, uint64_t end);
/** NULL is legal. */
void elf_symbols_destroy(struct elf_symbols *symbols);

/** The symbol that covers the address, or NULL. *offset: from its start. */
const char *elf_symbols_name(struct elf_symbols *symbols, uint64_t addr,
			     uint64_t *offset);
/** As symbols_frame_register. */
int elf_symbols_frame_register(struct elf_symbols *symbols, uint64_t addr);
/** As symbols_code_around: how many bytes from @addr on, *offset: and before it. 0:
 * nothing says it. */
int32_t elf_symbols_code_around(struct elf_symbols *symbols, uint64_t addr,
				uint64_t *offset);
/** As symbols_sequences. */
enum symbols_sequences elf_symbols_sequences(struct elf_symbols *symbols,
					     uint64_t addr);
/** As symbols_is_hook. */
bool elf_symbols_is_hook(struct elf_symbols *symbols, uint64_t addr);
/** As symbols_small_stacks. */
bool elf_symbols_small_stacks(struct elf_symbols *symbols);
/** As symbols_covers. */
bool elf_symbols_covers(struct elf_symbols *symbols, const char *name, uint64_t addr,
			uint64_t *offset);
/**
 * Hands every symbol that is defined to @found, until that returns false.
 */
void elf_symbols_each(struct elf_symbols *symbols,
		      bool (*found)(void *arg, const char *name, uint64_t addr),
		      void *arg);
/** Has it packed symbols (.gnu_debugdata) that could not be unpacked? */
bool elf_symbols_lacks_packed(struct elf_symbols *symbols);

#endif
