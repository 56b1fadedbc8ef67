/* SPDX-License-Identifier: BSD-2-Clause */
/* What the passes of ir_tidy need to know of an operation of the IR. */
#ifndef TRUEHIT_IR_TRAITS_H
#define TRUEHIT_IR_TRAITS_H

#include "gdbstub/agent/insn.h"
#include "gdbstub/ir/ir.h"

/** Cells, one for moves in circles, and one for the rounds of loops. */
enum { TIDY_SLOTS = AGENT_CELLS_MAX + 2 };

/** An operation of which nothing is known here sets no slot, and reads a and b. */
struct ir_traits {
	bool sets;		   /* writes its slot */
	bool ignores_a, ignores_b; /* does not read it */
	bool plain;		   /* does nothing else: without need for the slot, it
				    * may go */
};
const struct ir_traits *ir_traits(const struct ir_insn *insn);
bool ir_divides(const struct ir_insn *insn);
/** May it leave by IR_MAYBE? A divisor that is a constant is not 0. */
bool ir_may_fail(const struct ir_insn *insn);
/** Makes it an operation that does nothing. */
void ir_remove(struct ir_insn *insn);
/** Does it do nothing? flow.c removes it then. */
bool ir_is_idle(const struct ir_insn *insn);

#endif
