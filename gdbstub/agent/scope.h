/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conditions about variables of one frame, as gdb's extension makes them
 * (scripts/truehit_conditions.py): they hold wherever the PC is not in a stretch of one
 * function, so that gdb decides there.
 */
#ifndef TRUEHIT_AGENT_SCOPE_H
#define TRUEHIT_AGENT_SCOPE_H

#include "gdbstub/agent/insn.h"

struct agent_scope {
	unsigned int reg;     /* gdb's number of the PC */
	uint64_t first, last; /* its values there */
	size_t body;	      /* index of the operation with which the rest begins */
};

/** Does such a condition begin with what tells the stretch? */
bool agent_scope_find(const struct agent_insn *insns, size_t count,
		      struct agent_scope *ret);

#endif
