/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Passes over finished IR. They change no verdict and no effect: what may leave
 * by IR_MAYBE still does, even if nobody needs the value.
 *
 * tidy.c runs them. flow.c follows chains of jumps to their end, and removes what
 * is never reached; facts.c goes forward, with what is known of the values in the
 * slots; needs.c goes backward, with what is needed of them, and numbers the slots.
 */
#ifndef TRUEHIT_AGENT_TIDY_H
#define TRUEHIT_AGENT_TIDY_H

#include "agent/insn.h"
#include "agent/ir.h"

/**
 * Makes the code shorter, renumbers its slots so that the first ones are the most
 * used and there are few (ir->slots), and finds out which exits are used. All of
 * what is left can be reached. 0, or -ENOMEM.
 */
int ir_tidy(struct ir *ir, const struct ir_target *target);

/* Between the passes. */

/** Cells, one for moves in circles, and one for the rounds of loops. */
enum { TIDY_SLOTS = AGENT_CELLS_MAX + 2 };

/** An operation of which nothing is known here sets no slot, and reads a and b. */
struct tidy_traits {
	bool sets;		   /* writes its slot */
	bool ignores_a, ignores_b; /* does not read it */
	bool plain;		   /* does nothing else: without need for the slot, it
				    * may go */
};
const struct tidy_traits *tidy_traits(const struct ir_insn *insn);
bool tidy_divides(const struct ir_insn *insn);
/** May it leave by IR_MAYBE? A divisor that is a constant is not 0. */
bool tidy_may_fail(const struct ir_insn *insn);
/** Makes it an operation that does nothing. */
void tidy_remove(struct ir_insn *insn);
/** Does it do nothing? flow.c removes it then. */
bool tidy_is_idle(const struct ir_insn *insn);

#endif
