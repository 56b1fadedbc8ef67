/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/ir/needs.h"

#include "gdbstub/agent/arith.h"
#include "gdbstub/ir/liveness.h"
#include "gdbstub/ir/traits.h"

/* Only bits that the extension leaves as they are matter after it. */
static bool is_idle_extension(const struct liveness *l, const struct ir_insn *insn)
{
	return insn->op == IR_EXTEND && insn->b.value < 64 &&
	       l->needed[insn->slot] >> insn->b.value == 0;
}

/*
 * A sign extension whose value is only compared with a constant for equality: the
 * low bits tell, and where the others are known to be 0, nothing is to be done.
 */
static void compare_low_bits(const struct liveness *l, struct ir_insn *extend,
			     struct ir_insn *branch)
{
	uint64_t constant = branch->b.value, low;

	if (extend->op != IR_EXTEND || extend->code != AGENT_EXT ||
	    branch->op != IR_BRANCH || branch->compare > IR_NE ||
	    !ir_is_slot(branch->a, extend->slot) || branch->b.kind != IR_CONST ||
	    l->needed[extend->slot] ||
	    slot_set_has(&l->labels[branch->label], extend->slot))
		return;
	low = agent_extend(AGENT_ZERO_EXT, constant, extend->b.value);
	if (agent_extend(AGENT_EXT, constant, extend->b.value) != constant ||
	    low > INT32_MAX) /* a constant that takes an instruction by itself */
		return;
	extend->code = AGENT_ZERO_EXT;
	branch->b.value = low;
}

int tidy_needs(struct ir *ir)
{
	_cleanup_(liveness_deinit) struct liveness l;
	int r = liveness_init(&l, ir);

	for (size_t i = ir->count; r == 0 && i-- > 0;) {
		struct ir_insn *insn = &ir->insns[i];

		if (liveness_is_dead(&l, insn)) {
			ir_remove(insn);
			continue;
		}
		if (is_idle_extension(&l, insn))
			*insn = (struct ir_insn){
				.op = IR_MOVE, .slot = insn->slot, .a = insn->a};
		if (i > 0)
			compare_low_bits(&l, insn - 1, insn);
		liveness_back(&l, insn);
	}
	return r;
}
