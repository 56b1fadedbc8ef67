/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Passes over finished IR. They change no verdict and no effect: what may leave
 * by IR_MAYBE still does, even if nobody needs the value.
 *
 * tidy.c runs them. flow.c follows chains of jumps to their end, and removes what
 * is never reached; facts.c goes forward, with what is known of the values in the
 * slots; needs.c goes backward, with what is needed of them, and numbers the slots.
 */
#ifndef TRUEHIT_IR_TIDY_H
#define TRUEHIT_IR_TIDY_H

#include "gdbstub/agent/insn.h"
#include "gdbstub/ir/ir.h"

/**
 * Makes the code shorter, renumbers its slots so that the first ones are the most
 * used and there are few (ir->slots), and finds out which exits are used. All of
 * what is left can be reached. 0, or -ENOMEM.
 */
int ir_tidy(struct ir *ir, const struct ir_target *target);

#endif
