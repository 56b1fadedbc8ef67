/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/agent/opcode.h"

#include <stddef.h>

#define ARITH(text)                                                                    \
	{                                                                              \
		text, 0, 2, 1, AGENT_CLASS_ARITH, 0, NULL                              \
	}
#define COMPARE(text)                                                                  \
	{                                                                              \
		text, 0, 2, 1, AGENT_CLASS_COMPARE, 0, NULL                            \
	}
/* What it collects is dropped: there is no trace frame. */
#define TRACE(text, operand, pops, pushes)                                             \
	{                                                                              \
		text, operand, pops, pushes, AGENT_CLASS_TRACE, 0, NULL                \
	}
#define REFUSED(text, why)                                                             \
	{                                                                              \
		text, 0, 0, 0, AGENT_CLASS_OTHER, 0, why                               \
	}

static const char no_floats[] = "floating point is not supported";

static const struct agent_opcode opcodes[] = {
	/* name, operand bytes, pops, pushes, class, bytes of memory, refused */
	[AGENT_FLOAT] = REFUSED("float", no_floats),
	[AGENT_ADD] = ARITH("add"),
	[AGENT_SUB] = ARITH("sub"),
	[AGENT_MUL] = ARITH("mul"),
	[AGENT_DIV_SIGNED] = ARITH("div_signed"),
	[AGENT_DIV_UNSIGNED] = ARITH("div_unsigned"),
	[AGENT_REM_SIGNED] = ARITH("rem_signed"),
	[AGENT_REM_UNSIGNED] = ARITH("rem_unsigned"),
	[AGENT_LSH] = ARITH("lsh"),
	[AGENT_RSH_SIGNED] = ARITH("rsh_signed"),
	[AGENT_RSH_UNSIGNED] = ARITH("rsh_unsigned"),
	[AGENT_TRACE] = TRACE("trace", 0, 2, 0),
	[AGENT_TRACE_QUICK] = TRACE("trace_quick", 1, 1, 1),
	[AGENT_LOG_NOT] = {"log_not", 0, 1, 1, AGENT_CLASS_OTHER, 0, NULL},
	[AGENT_BIT_AND] = ARITH("bit_and"),
	[AGENT_BIT_OR] = ARITH("bit_or"),
	[AGENT_BIT_XOR] = ARITH("bit_xor"),
	[AGENT_BIT_NOT] = {"bit_not", 0, 1, 1, AGENT_CLASS_OTHER, 0, NULL},
	[AGENT_EQUAL] = COMPARE("equal"),
	[AGENT_LESS_SIGNED] = COMPARE("less_signed"),
	[AGENT_LESS_UNSIGNED] = COMPARE("less_unsigned"),
	[AGENT_EXT] = {"ext", 1, 1, 1, AGENT_CLASS_EXTEND, 0, NULL},
	[AGENT_REF8] = {"ref8", 0, 1, 1, AGENT_CLASS_REF, 1, NULL},
	[AGENT_REF16] = {"ref16", 0, 1, 1, AGENT_CLASS_REF, 2, NULL},
	[AGENT_REF32] = {"ref32", 0, 1, 1, AGENT_CLASS_REF, 4, NULL},
	[AGENT_REF64] = {"ref64", 0, 1, 1, AGENT_CLASS_REF, 8, NULL},
	[AGENT_REF_FLOAT] = REFUSED("ref_float", no_floats),
	[AGENT_REF_DOUBLE] = REFUSED("ref_double", no_floats),
	[AGENT_REF_LONG_DOUBLE] = REFUSED("ref_long_double", no_floats),
	[AGENT_L_TO_D] = REFUSED("l_to_d", no_floats),
	[AGENT_D_TO_L] = REFUSED("d_to_l", no_floats),
	[AGENT_IF_GOTO] = {"if_goto", 2, 1, 0, AGENT_CLASS_JUMP, 0, NULL},
	[AGENT_GOTO] = {"goto", 2, 0, 0, AGENT_CLASS_JUMP, 0, NULL},
	[AGENT_CONST8] = {"const8", 1, 0, 1, AGENT_CLASS_CONST, 0, NULL},
	[AGENT_CONST16] = {"const16", 2, 0, 1, AGENT_CLASS_CONST, 0, NULL},
	[AGENT_CONST32] = {"const32", 4, 0, 1, AGENT_CLASS_CONST, 0, NULL},
	[AGENT_CONST64] = {"const64", 8, 0, 1, AGENT_CLASS_CONST, 0, NULL},
	[AGENT_REG] = {"reg", 2, 0, 1, AGENT_CLASS_OTHER, 0, NULL},
	[AGENT_END] = {"end", 0, 1, 1, AGENT_CLASS_OTHER, 0, NULL},
	[AGENT_DUP] = {"dup", 0, 1, 2, AGENT_CLASS_SHUFFLE, 0, NULL},
	[AGENT_POP] = {"pop", 0, 1, 0, AGENT_CLASS_SHUFFLE, 0, NULL},
	[AGENT_ZERO_EXT] = {"zero_ext", 1, 1, 1, AGENT_CLASS_EXTEND, 0, NULL},
	[AGENT_SWAP] = {"swap", 0, 2, 2, AGENT_CLASS_SHUFFLE, 0, NULL},
	[AGENT_GETV] = {"getv", 2, 0, 1, AGENT_CLASS_VARIABLE, 0, NULL},
	[AGENT_SETV] = {"setv", 2, 1, 1, AGENT_CLASS_VARIABLE, 0, NULL},
	[AGENT_TRACEV] = TRACE("tracev", 2, 0, 0),
	[AGENT_TRACENZ] = TRACE("tracenz", 0, 2, 0),
	[AGENT_TRACE16] = TRACE("trace16", 2, 1, 1),
	/* Needs operand + 1 cells: the check counts that by itself. */
	[AGENT_PICK] = {"pick", 1, 0, 1, AGENT_CLASS_SHUFFLE, 0, NULL},
	[AGENT_ROT] = {"rot", 0, 3, 3, AGENT_CLASS_SHUFFLE, 0, NULL},
	/* Takes operand + 2 cells; its format follows the operand. */
	[AGENT_PRINTF] = {"printf", 1, 2, 0, AGENT_CLASS_PRINT, 0,
			  "prints, which a condition cannot"},
};

const struct agent_opcode *agent_opcode(uint8_t code)
{
	if (code >= sizeof(opcodes) / sizeof(opcodes[0]) || !opcodes[code].name)
		return NULL;
	return &opcodes[code];
}
