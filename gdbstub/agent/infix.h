/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Agent expressions as C-like text, for people. Values are signed 64-bit
 * numbers; "(u64)" marks an unsigned operation; "(s32)$rbp[-4]" is 4 bytes of
 * memory at $rbp - 4, sign-extended, "(u8)[0x404010]" one byte at 0x404010,
 * "$tsv1" trace state variable 1. A
 * command reads: printf "i=%d\n", (s32)$rbp[-4]. A condition about the variables of
 * one frame (scope.h) reads: (s32)$rbp[-4] == 5, where $rip is 0x401136 to 0x401172 and
 * $rbp is 0x7ffe0010; elsewhere gdb decides.
 */
#ifndef TRUEHIT_AGENT_INFIX_H
#define TRUEHIT_AGENT_INFIX_H

#include "gdbstub/agent/expr.h"

/**
 * Appends the expression if its control flow has the shapes that gdb gives to
 * &&, || and ?: and the text is of readable length. false: it is not so, or
 * memory ran out; @out is as it was.
 */
bool agent_expr_infix(const struct agent_expr *expr, const struct arch_ops *arch,
		      struct buffer *out);

/** Appends "$name", "$tid" for AGENT_REG_THREAD, or "$rN" for a register that the table
 * does not have. */
void agent_print_register(const struct arch_ops *arch, unsigned int number,
			  struct buffer *out);

/** Appends a printf's format in quotes, as the user typed it. */
void agent_print_format(const char *format, struct buffer *out);

#endif
