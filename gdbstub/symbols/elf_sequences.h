/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Restartable sequences (rseq(2)), as ELF files describe them: the section __rseq_cs is
 * an array of struct rseq_cs (include/uapi/linux/rseq.h). The kernel begins such a
 * sequence anew when its thread is preempted, migrated or gets a signal in the middle,
 * which it knows by the PC. Only the symbols reader calls this (symbols_reader.h).
 */
#ifndef TRUEHIT_SYMBOLS_ELF_SEQUENCES_H
#define TRUEHIT_SYMBOLS_ELF_SEQUENCES_H

#include <gelf.h>

#include "gdbstub/symbols/symbols.h"

/** @bias: what is added to the file's addresses where it is mapped. The addresses in
 * the section are relocated as the dynamic linker does it, be it done yet or not. */
enum symbols_sequences elf_sequences_at(Elf *elf, GElf_Addr bias, GElf_Addr addr);

#endif
