/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Languages whose threads have small stacks, of which every byte may be in use: below
 * the stack pointer there may be something else's memory, and the kernel delivers
 * signals on stacks of their own. Only the symbols reader calls this
 * (symbols_reader.h).
 */
#ifndef TRUEHIT_SYMBOLS_ELF_STACKS_H
#define TRUEHIT_SYMBOLS_ELF_STACKS_H

#include <gelf.h>
#include <stdbool.h>

/** Is the file of such a language? NULL is legal: nobody can tell. */
bool elf_stacks_are_small(Elf *elf);

#endif
