/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytecode under construction. What no longer fits is dropped: `full` tells. */
#ifndef TRUEHIT_FUZZ_ASSEMBLER_H
#define TRUEHIT_FUZZ_ASSEMBLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/opcode.h"

enum { TEXT_MAX = 16 << 10 };

struct text {
	size_t len;
	bool full;
	uint8_t bytes[TEXT_MAX];
};

/** An operation and its operand, of the size that it takes. */
void text_op(struct text *text, enum agent_code code, uint64_t operand);
/** A jump whose target is not known yet. Returns its place, for text_land(). */
size_t text_jump(struct text *text, enum agent_code code);
/** The jump at @place leads to what comes next. */
void text_land(struct text *text, size_t place);

#endif
