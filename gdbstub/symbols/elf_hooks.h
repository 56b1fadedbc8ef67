/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where debuggers have breakpoints of their own as long as a program runs: at functions
 * that are there to be stopped at, and at the probes of the dynamic linker
 * (SystemTap's, in sections .note.stapsdt). Only the symbols reader calls this
 * (symbols_reader.h).
 *
 * Source of the facts: gdb/solib-svr4.c, bkpt_names and probe_info; gdb/jit.c;
 * SystemTap's wiki, "UserSpaceProbeImplementation".
 */
#ifndef TRUEHIT_SYMBOLS_ELF_HOOKS_H
#define TRUEHIT_SYMBOLS_ELF_HOOKS_H

#include <gelf.h>
#include <stdbool.h>

/** Is a function of this name such a one? */
bool elf_hook_named(const char *name);
/** @bias: what is added to the file's addresses where it is mapped. */
bool elf_hook_probed(Elf *elf, GElf_Addr bias, GElf_Addr addr);

#endif
