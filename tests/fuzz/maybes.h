/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why filters leave hits to the trap, or cannot be made: each reason with how often it
 * was met. What a filter does not find out is told by what the interpreter met.
 */
#ifndef TRUEHIT_FUZZ_MAYBES_H
#define TRUEHIT_FUZZ_MAYBES_H

#include <stdbool.h>
#include <stdint.h>

#include "gdbstub/agent/expr.h"
#include "tests/fuzz/run_filter.h"

enum { MAYBES_MAX = 16 };

/** Texts and counts. Texts beyond the last row are counted there. */
struct maybes {
	struct maybe_row {
		char text[64];
		uint64_t count;
	} rows[MAYBES_MAX];
};

/** What the interpreter met in one state. */
struct met {
	bool in_sequence; /* the thread is in a restartable sequence */
	bool unreadable;  /* memory, or a register, that cannot be read */
	bool planted;	  /* memory that is under planted bytes */
	bool failed;	  /* it cannot evaluate the expression */
	bool is_false;	  /* it evaluates it, and the result is false */
};

void maybes_count(struct maybes *maybes, const char *text);
/** Each on a line, after a line with @title. */
void maybes_print(const struct maybes *maybes, const char *title);

/** Why a filter did not find a state false, that ended at @end; NULL: it was true. */
const char *maybe_reason(const struct agent_expr *expr, const struct met *met,
			 enum run_end end);

#endif
