/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/ir/traits.h"

#include "gdbstub/agent/opcode.h"

const struct ir_traits *ir_traits(const struct ir_insn *insn)
{
	static const struct ir_traits unknown,
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
			[IR_THREAD] = {.sets = true,
				       .ignores_a = true,
				       .ignores_b = true},
			[IR_GETV] = {.sets = true, .ignores_a = true},
			[IR_PRINT] = {.ignores_a = true, .ignores_b = true},
		};

	return insn->op < sizeof(traits) / sizeof(*traits) ? &traits[insn->op]
							   : &unknown;
}

bool ir_divides(const struct ir_insn *insn)
{
	return insn->op == IR_ARITH && insn->code >= AGENT_DIV_SIGNED &&
	       insn->code <= AGENT_REM_UNSIGNED;
}

bool ir_may_fail(const struct ir_insn *insn)
{
	return insn->op == IR_REF || (ir_divides(insn) && insn->b.kind != IR_CONST);
}

void ir_remove(struct ir_insn *insn)
{
	*insn = (struct ir_insn){.op = IR_MOVE, .a = ir_slot(0)};
}

bool ir_is_idle(const struct ir_insn *insn)
{
	return insn->op == IR_MOVE && ir_is_slot(insn->a, insn->slot);
}
