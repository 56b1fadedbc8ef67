/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/tidy.h"

#include "agent/facts.h"
#include "agent/flow.h"
#include "agent/needs.h"
#include "agent/opcode.h"
#include "agent/slots.h"

const struct tidy_traits *tidy_traits(const struct ir_insn *insn)
{
	static const struct tidy_traits unknown,
		traits[] = {
			[IR_LABEL] = {.ignores_a = true, .ignores_b = true},
			[IR_JUMP] = {.ignores_a = true, .ignores_b = true},
			[IR_BRANCH] = {0},
			[IR_SET] = {.sets = true, .plain = true},
			[IR_MOVE] = {.sets = true, .ignores_b = true, .plain = true},
			[IR_HIDE] = {.sets = true, .ignores_b = true, .plain = true},
			[IR_ARITH] = {.sets = true, .plain = true},
			[IR_EXTEND] = {.sets = true, .plain = true},
			[IR_REF] = {.sets = true},
			[IR_GETV] = {.sets = true, .ignores_a = true},
			[IR_PRINT] = {.ignores_a = true, .ignores_b = true},
		};

	return insn->op < sizeof(traits) / sizeof(*traits) ? &traits[insn->op]
							   : &unknown;
}

bool tidy_divides(const struct ir_insn *insn)
{
	return insn->op == IR_ARITH && insn->code >= AGENT_DIV_SIGNED &&
	       insn->code <= AGENT_REM_UNSIGNED;
}

bool tidy_may_fail(const struct ir_insn *insn)
{
	return insn->op == IR_REF || (tidy_divides(insn) && insn->b.kind != IR_CONST);
}

void tidy_remove(struct ir_insn *insn)
{
	*insn = (struct ir_insn){.op = IR_MOVE, .a = ir_slot(0)};
}

bool tidy_is_idle(const struct ir_insn *insn)
{
	return insn->op == IR_MOVE && ir_is_slot(insn->a, insn->slot);
}

int ir_tidy(struct ir *ir, const struct ir_target *target)
{
	enum { ROUNDS = 2 }; /* what one pass makes of the code is food for another */
	int r = tidy_flow(ir);

	for (int i = 0; i < ROUNDS && r == 0; i++) {
		tidy_facts(ir, target);
		r = tidy_needs(ir);
		if (r == 0)
			r = tidy_flow(ir);
	}
	if (r == 0)
		r = tidy_slots(ir);
	return r < 0 ? r : tidy_flow(ir);
}
