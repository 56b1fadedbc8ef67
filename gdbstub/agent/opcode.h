/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The operations of agent expressions: one row each.
 *
 * Source of the facts: gdbsupport/ax.def (codes, operand sizes, stack effect)
 * and "Debugging with GDB", "Bytecode Descriptions".
 */
#ifndef TRUEHIT_AGENT_OPCODE_H
#define TRUEHIT_AGENT_OPCODE_H

#include <stdint.h>

enum agent_code {
	AGENT_FLOAT = 0x01,
	AGENT_ADD = 0x02,
	AGENT_SUB = 0x03,
	AGENT_MUL = 0x04,
	AGENT_DIV_SIGNED = 0x05,
	AGENT_DIV_UNSIGNED = 0x06,
	AGENT_REM_SIGNED = 0x07,
	AGENT_REM_UNSIGNED = 0x08,
	AGENT_LSH = 0x09,
	AGENT_RSH_SIGNED = 0x0a,
	AGENT_RSH_UNSIGNED = 0x0b,
	AGENT_TRACE = 0x0c,
	AGENT_TRACE_QUICK = 0x0d,
	AGENT_LOG_NOT = 0x0e,
	AGENT_BIT_AND = 0x0f,
	AGENT_BIT_OR = 0x10,
	AGENT_BIT_XOR = 0x11,
	AGENT_BIT_NOT = 0x12,
	AGENT_EQUAL = 0x13,
	AGENT_LESS_SIGNED = 0x14,
	AGENT_LESS_UNSIGNED = 0x15,
	AGENT_EXT = 0x16,
	AGENT_REF8 = 0x17,
	AGENT_REF16 = 0x18,
	AGENT_REF32 = 0x19,
	AGENT_REF64 = 0x1a,
	AGENT_REF_FLOAT = 0x1b,
	AGENT_REF_DOUBLE = 0x1c,
	AGENT_REF_LONG_DOUBLE = 0x1d,
	AGENT_L_TO_D = 0x1e,
	AGENT_D_TO_L = 0x1f,
	AGENT_IF_GOTO = 0x20,
	AGENT_GOTO = 0x21,
	AGENT_CONST8 = 0x22,
	AGENT_CONST16 = 0x23,
	AGENT_CONST32 = 0x24,
	AGENT_CONST64 = 0x25,
	AGENT_REG = 0x26,
	AGENT_END = 0x27,
	AGENT_DUP = 0x28,
	AGENT_POP = 0x29,
	AGENT_ZERO_EXT = 0x2a,
	AGENT_SWAP = 0x2b,
	AGENT_GETV = 0x2c,
	AGENT_SETV = 0x2d,
	AGENT_TRACEV = 0x2e,
	AGENT_TRACENZ = 0x2f,
	AGENT_TRACE16 = 0x30,
	AGENT_PICK = 0x32,
	AGENT_ROT = 0x33,
	AGENT_PRINTF = 0x34,
};

/**
 * What AGENT_REG reads by this number is the thread's number in the server's PID name
 * space: no processor has such a register. gdb's compiler has none for $_thread; its
 * extension (scripts/truehit-gdb.py) makes this of it.
 */
enum { AGENT_REG_THREAD = 0xffff };

/** What an operation does, as far as one switch is to handle several alike. */
enum agent_class {
	AGENT_CLASS_OTHER,
	AGENT_CLASS_ARITH,    /* a b -> r, agent_arith() computes it */
	AGENT_CLASS_COMPARE,  /* a b -> 0 or 1, agent_arith() computes it */
	AGENT_CLASS_CONST,    /* -> operand */
	AGENT_CLASS_REF,      /* address -> value; the row has the size */
	AGENT_CLASS_SHUFFLE,  /* moves cells only: dup, pop, swap, pick, rot */
	AGENT_CLASS_EXTEND,   /* a -> the low operand bits of a, extended */
	AGENT_CLASS_JUMP,     /* the operand is an offset */
	AGENT_CLASS_VARIABLE, /* reads or sets the trace state variable @operand */
	AGENT_CLASS_TRACE,    /* collects data for a trace frame: no effect here */
	AGENT_CLASS_PRINT,    /* function, channel, arguments ->; in commands only */
};

struct agent_opcode {
	const char *name; /* NULL: no such operation */
	uint8_t operand;  /* its size in bytes: 0, 1, 2, 4, 8 */
	uint8_t pops;	  /* cells that have to be there and are taken away */
	uint8_t pushes;
	uint8_t class;	     /* enum agent_class */
	uint8_t size;	     /* bytes read from memory (AGENT_CLASS_REF) */
	const char *refused; /* why it is not allowed in a condition, or NULL */
};

/** The row of a code, or NULL if there is no such operation. */
const struct agent_opcode *agent_opcode(uint8_t code);

#endif
