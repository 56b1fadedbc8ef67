/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The symbolic stack of the lowering (ir.c): where each cell's value is at this
 * point of the code. A constant, a register of the thread and what only renames
 * cells take no code at all. At a label, cell i is in slot i ("in place").
 */
#ifndef TRUEHIT_IR_CELLS_H
#define TRUEHIT_IR_CELLS_H

#include "gdbstub/agent/insn.h"
#include "gdbstub/ir/ir.h"

struct cells {
	struct ir_operand cell[AGENT_CELLS_MAX];
	unsigned int depth;
};

void cells_push(struct cells *s, struct ir_operand operand);
struct ir_operand cells_pop(struct cells *s);
bool cells_in_place(const struct cells *s);
/** Is the value of a cell other than @except in the slot? */
bool cells_use(const struct cells *s, unsigned int number, unsigned int except);
/** A slot that no cell is in; the one where the next cell has its place, if free. */
unsigned int cells_free_slot(const struct cells *s);

/**
 * Does the operation's whole work at compile time; false if that is impossible.
 * Never possible for jumps, for what reads memory or registers, and for `end`.
 */
bool cells_apply(struct cells *s, const struct agent_insn *insn);

#endif
