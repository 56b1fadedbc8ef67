/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Agent expressions: gdb's bytecode for conditions and for commands that are run at
 * a breakpoint, decoded and checked.
 * Pure code: no ptrace, no BPF, no protocol in here.
 *
 * Source of the facts: "Debugging with GDB", appendix "The GDB Agent Expression
 * Mechanism", and gdbsupport/ax.def for the codes.
 */
#ifndef TRUEHIT_AGENT_EXPR_H
#define TRUEHIT_AGENT_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gdbstub/base/buffer.h"
#include "gdbstub/base/error.h"

/** Decoded, checked, immutable, with a reference count. */
struct agent_expr;

/**
 * Decodes and checks: every operation known and allowed in a condition, operands
 * complete, jump targets on instructions, a fixed stack depth at every
 * instruction (the same along every path), no underflow, no overflow, a value
 * on the stack at each `end`. The error names offset, operation and reason.
 */
struct error *agent_expr_create(const void *bytecode, size_t len,
				struct agent_expr **ret);
/**
 * The same for a command: it may print, and need not leave a value. Formats
 * (gdbstub/agent/format.h) are checked, too, and the number of their arguments.
 */
struct error *agent_expr_create_command(const void *bytecode, size_t len,
					struct agent_expr **ret);
struct agent_expr *agent_expr_ref(struct agent_expr *expr);
/** Gives a reference back; NULL is legal. */
void agent_expr_unref(struct agent_expr *expr);

/** The bytecode that it was made from. */
const uint8_t *agent_expr_bytecode(const struct agent_expr *expr, size_t *len);
bool agent_expr_equal(const struct agent_expr *a, const struct agent_expr *b);

struct arch_ops;

/** Where an evaluation gets its inputs from. */
struct agent_context {
	/** Reads all @len bytes: 0, or a negative errno. */
	int (*read_memory)(void *data, uint64_t addr, void *value, size_t len);
	/** A register zero-extended to 64 bits: 0, or a negative errno. */
	int (*read_register)(void *data, unsigned int number, uint64_t *value);
	/** A trace state variable: 0, or a negative errno. NULL: there are none. */
	int (*read_variable)(void *data, unsigned int number, uint64_t *value);
	int (*write_variable)(void *data, unsigned int number, uint64_t value);
	/** Takes what a command prints, one printf at a time. Only for commands. */
	void (*print)(void *data, const char *text, size_t len);
	void *data;
};

const struct agent_insn *agent_expr_insns(const struct agent_expr *expr, size_t *count);
/** How many cells there have to be before an operation. */
unsigned int agent_insn_needs(const struct agent_insn *insn);
/** The most cells that are ever on the stack. */
unsigned int agent_expr_max_depth(const struct agent_expr *expr);
/** Was it made by agent_expr_create_command? */
bool agent_expr_is_command(const struct agent_expr *expr);
/** Is there a jump back (or to itself), so that it may loop? */
bool agent_expr_jumps_back(const struct agent_expr *expr);

#endif
