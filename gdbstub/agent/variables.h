/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trace state variables: 64-bit numbers that expressions read (getv) and set (setv),
 * the same for all processes. gdb gives them their numbers.
 *
 * Expressions are evaluated by kernel programs and by the stub, at any time, so the
 * values are in memory that both reach, under a lock. Each evaluation of a location's
 * conditions is atomic: it takes the lock, works on a copy, and what it has set becomes
 * visible to others at its end, all at once.
 *
 * Source of the facts: "Debugging with GDB", "Trace State Variables" and "Tracepoint
 * Packets" (QTDV, qTV). As said there, a variable comes into being with the value 0
 * when an expression is to set it. One that is only read has no value before the
 * client gives it one: gdb may have another initial value in mind, which it keeps to
 * itself.
 */
#ifndef TRUEHIT_AGENT_VARIABLES_H
#define TRUEHIT_AGENT_VARIABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "gdbstub/agent/list.h"
#include "gdbstub/base/buffer.h"
#include "gdbstub/base/error.h"

enum { VARIABLES_MAX = 256 };

/**
 * What programs share with the stub. A variable keeps its cell for ever, as programs
 * have it built in; {0} is no variables.
 */
struct variable_cells {
	uint64_t lock; /* 1: somebody evaluates */
	uint64_t count;
	struct variable_cell {
		uint64_t value;
		uint32_t number; /* the client's: 0..65535 */
		uint32_t exists; /* it has a value */
	} cell[VARIABLES_MAX];
};

/** The index of a variable's cell, whether or not it exists; -1: it has none. */
int variable_cell(const struct variable_cells *cells, unsigned int number);

/** {0} is no variables. */
struct variables {
	struct variable_cells own, *shared; /* NULL: own is used */
	struct variable_name {
		char *text; /* NULL: the client has not told it */
		int64_t initial;
	} names[VARIABLES_MAX]; /* by cell */
};

void variables_deinit(struct variables *variables);
/** Moves the values to @cells, which is zero and outlives @variables. */
void variables_share(struct variables *variables, struct variable_cells *cells);

/** Sets a variable, or makes it. */
struct error *variables_set(struct variables *variables, unsigned int number,
			    int64_t value);
/** The same, and that is its initial value. @name: NULL or "" if there is none. */
struct error *variables_define(struct variables *variables, unsigned int number,
			       int64_t value, const char *name);
/** The variables that the expressions use have cells from now on, and those that they
 * set exist. */
struct error *variables_mention(struct variables *variables,
				const struct agent_list *exprs);
/** false: there is no such variable. */
bool variables_get(const struct variables *variables, unsigned int number,
		   uint64_t *value);
/** No variable exists any more. */
void variables_forget(struct variables *variables);
/** Appends a table for people. */
void variables_print(const struct variables *variables, struct buffer *out);

/** An evaluation in the stub. Others wait from the first use of a variable on. */
struct variables_draft {
	struct variables *variables;
	bool begun;
	uint64_t value[VARIABLES_MAX]; /* by cell */
};

void variables_draft_init(struct variables_draft *draft, struct variables *variables);
/** 0, or -ENODATA: it does not exist. */
int variables_draft_read(struct variables_draft *draft, unsigned int number,
			 uint64_t *value);
int variables_draft_write(struct variables_draft *draft, unsigned int number,
			  uint64_t value);
/** What was set takes effect. */
void variables_draft_commit(struct variables_draft *draft);

#endif
