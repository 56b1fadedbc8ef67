/* SPDX-License-Identifier: BSD-2-Clause */
/* Expressions for people. */
#ifndef TRUEHIT_AGENT_PRINT_H
#define TRUEHIT_AGENT_PRINT_H

#include "gdbstub/agent/expr.h"

/**
 * Appends the expression for people. If it has the shape that gdb's C compiler
 * makes, as an infix text such as "(s32)$rbp[-4] == 777777 && ..."; else the
 * operations, separated by "; ". @arch gives register names; NULL: numbers.
 */
void agent_expr_print(const struct agent_expr *expr, const struct arch_ops *arch,
		      struct buffer *out);
/** Appends one operation per line with its offset, for `monitor explain`. */
void agent_expr_disassemble(const struct agent_expr *expr, const struct arch_ops *arch,
			    struct buffer *out);

#endif
