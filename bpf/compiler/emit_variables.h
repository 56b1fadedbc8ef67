/* SPDX-License-Identifier: BSD-2-Clause */
/* The copies of trace state variables that an evaluation works on. */
#ifndef TRUEHIT_BPF_COMPILER_EMIT_VARIABLES_H
#define TRUEHIT_BPF_COMPILER_EMIT_VARIABLES_H

#include "bpf/emit/compiler.h"

/** The program is to use the variables of these expressions: all of them, or none if
 * they are too many. */
void variables_note_uses(struct compiler *c, const struct agent_list *exprs);
/** Can it be used? */
bool variables_known(const struct compiler *c, unsigned int number);
/** Slots at the end of the frame that are not for the stack. */
unsigned int variables_slots(const struct compiler *c);
/** Before any way to the exits: the lock is not held yet. */
void variables_emit_unheld(struct compiler *c);
/** Copies them, under the lock unless one is only read. */
void variables_emit_begin(struct compiler *c);
/** IR_GETV, IR_SETV */
void variables_emit_use(struct compiler *c, const struct ir_insn *insn);
/** Before each end of the program, one of these: what was set takes effect, when the
 * hit is decided for good; or nothing was set. They need r0, r1 and r2. */
void variables_emit_commit(struct compiler *c);
void variables_emit_abort(struct compiler *c);

#endif
