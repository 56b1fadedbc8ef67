/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Does an instruction begin somewhere? A breakpoint may be anywhere: after a call that
 * never returns, say, which a function ends with. What a decoder makes of the bytes
 * there may have the beginning of another instruction in it, and a jump would change
 * that.
 */
#ifndef TRUEHIT_TEXT_INSN_START_H
#define TRUEHIT_TEXT_INSN_START_H

#include "gdbstub/inferior/inferior.h"
#include "gdbstub/symbols/symbols.h"
#include "gdbstub/text/decoder.h"

/** Decodes what is before @addr, as far as the program's file tells where code begins.
 * True: instructions end at @addr, and the code goes on for @len bytes at least. */
bool insn_starts_at(struct inferior *inferior, struct symbols *symbols,
		    struct decoder *decoder, uint64_t addr, unsigned int len);

#endif
