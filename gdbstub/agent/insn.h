/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A checked expression as a list of operations, for what walks over it: the
 * interpreter, the printers, the front half of the compiler.
 */
#ifndef TRUEHIT_AGENT_INSN_H
#define TRUEHIT_AGENT_INSN_H

#include "gdbstub/agent/expr.h"
#include "gdbstub/agent/opcode.h"

enum {
	AGENT_STACK_MAX = 1000,	     /* cells; gdbserver has 100 */
	AGENT_CELLS_MAX = 100,	     /* ... of an expression that is compiled */
	AGENT_LENGTH_MAX = 64 << 10, /* bytes: what a 16-bit jump reaches */
	AGENT_STEPS_MAX = 1000000,   /* operations that one evaluation may take */
	AGENT_UNREACHED = -1,
};

struct agent_insn {
	uint64_t operand;   /* zero-extended; 0 if the operation has none */
	const char *format; /* of printf, checked (gdbstub/agent/format.h); else NULL */
	uint32_t offset;    /* in the bytecode */
	uint32_t target;    /* of a jump: index of an operation */
	uint8_t code;	    /* enum agent_code */
	int16_t depth;	    /* cells on the stack before it, or AGENT_UNREACHED */
	bool leader;	    /* a jump that can be reached leads here */
	bool loops;	    /* ... from here or from further on */
};

#endif
