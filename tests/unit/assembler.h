/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Agent expressions, as bytes: macros for the operations that have an operand, to be
 * written into arrays or text_put() beside those of gdbstub/agent/opcode.h that have
 * none, and bytecode under construction. What no longer fits is dropped: `full` tells.
 */
#ifndef TRUEHIT_TESTS_ASSEMBLER_H
#define TRUEHIT_TESTS_ASSEMBLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gdbstub/agent/opcode.h"

/* Operands of 2, 4 and 8 bytes. They are evaluated once a byte. */
#define OPERAND16(n) (uint8_t)((n) >> 8), (uint8_t)(n)
#define OPERAND32(n) OPERAND16((uint32_t)(n) >> 16), OPERAND16((uint32_t)(n))
#define OPERAND64(n) OPERAND32((uint64_t)(n) >> 32), OPERAND32((uint64_t)(n))

#define CONST8(n)      AGENT_CONST8, (uint8_t)(n)
#define CONST16(n)     AGENT_CONST16, OPERAND16(n)
#define CONST32(n)     AGENT_CONST32, OPERAND32(n)
#define CONST64(n)     AGENT_CONST64, OPERAND64(n)
#define REG(n)	       AGENT_REG, OPERAND16(n)
#define GETV(n)	       AGENT_GETV, OPERAND16(n)
#define SETV(n)	       AGENT_SETV, OPERAND16(n)
#define EXT(bits)      AGENT_EXT, (bits)
#define ZERO_EXT(bits) AGENT_ZERO_EXT, (bits)
#define PICK(n)	       AGENT_PICK, (n)
#define GOTO(to)       AGENT_GOTO, OPERAND16(to)
#define IF_GOTO(to)    AGENT_IF_GOTO, OPERAND16(to)

/** All operations on two cells. */
enum { BINARY_CODES = 16 };
extern const uint8_t binary_codes[BINARY_CODES];

enum { TEXT_MAX = 16 << 10 };

struct text {
	size_t len;
	bool full;
	uint8_t bytes[TEXT_MAX];
};

/** Any bytes: text_put(&text, REG(0), CONST8(1), AGENT_ADD). */
void text_append(struct text *text, const void *bytes, size_t len);
#define text_put(text, ...)                                                            \
	text_append(text, (const uint8_t[]){__VA_ARGS__},                              \
		    sizeof((const uint8_t[]){__VA_ARGS__}))
/** An operation that is computed, and its operand, of the size that it takes. */
void text_op(struct text *text, enum agent_code code, uint64_t operand);
/** A jump whose target is not known yet. Returns its place, for text_land(). */
size_t text_jump(struct text *text, enum agent_code code);
/** The jump at @place leads to what comes next. */
void text_land(struct text *text, size_t place);
/** printf @format of so many cells, the first argument on top. */
void text_printf(struct text *text, const char *format, unsigned int count);

#endif
