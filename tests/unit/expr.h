/* SPDX-License-Identifier: BSD-2-Clause */
/* Agent expressions of bytecode; the test fails if that is not valid. */
#ifndef TRUEHIT_TESTS_EXPR_H
#define TRUEHIT_TESTS_EXPR_H

#include "gdbstub/agent/expr.h"
#include "tests/unit/assembler.h"

/** A condition; unreferenced by the caller. */
struct agent_expr *make_expr(const uint8_t *code, size_t len);
/** EXPR(REG(0), CONST8(1), AGENT_EQUAL, AGENT_END) */
#define EXPR(...)                                                                      \
	make_expr((const uint8_t[]){__VA_ARGS__},                                      \
		  sizeof((const uint8_t[]){__VA_ARGS__}))
/** With an end. */
struct agent_expr *text_expr(const struct text *text);
/** A command, with an end. */
struct agent_expr *text_command(const struct text *text);

#endif
