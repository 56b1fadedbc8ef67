/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/ir/liveness.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/agent/opcode.h"
#include "gdbstub/ir/traits.h"

static const uint64_t all_bits = UINT64_MAX;

static uint64_t low_bits(uint64_t count)
{
	return count < 64 ? (UINT64_C(1) << count) - 1 : all_bits;
}

/* The bits up to the highest of the mask: what carries go through. */
static uint64_t up_to(uint64_t mask)
{
	return mask ? all_bits >> __builtin_clzll(mask) : 0;
}

static uint64_t needed_by_shift(const struct ir_insn *insn, uint64_t result)
{
	unsigned int count = insn->b.value & 63;

	if (insn->b.kind != IR_CONST)
		return all_bits;
	if (insn->code == AGENT_LSH)
		return result >> count;
	if (insn->code == AGENT_RSH_UNSIGNED)
		return result << count;
	return result << count | UINT64_C(1) << 63;
}

/* Which bits of its operands an arithmetic operation needs for these of its result. */
static uint64_t needed_by_arith(const struct ir_insn *insn, uint64_t result)
{
	switch (insn->code) {
	case AGENT_ADD:
	case AGENT_SUB:
	case AGENT_MUL:
		return up_to(result);
	case AGENT_BIT_AND:
		return insn->b.kind == IR_CONST ? result & insn->b.value : result;
	case AGENT_BIT_OR:
	case AGENT_BIT_XOR:
		return result;
	case AGENT_LSH:
	case AGENT_RSH_SIGNED:
	case AGENT_RSH_UNSIGNED:
		return needed_by_shift(insn, result);
	}
	return all_bits;
}

static uint64_t needed_by(const struct ir_insn *insn, uint64_t result)
{
	uint64_t kept = low_bits(insn->b.value);

	switch (insn->op) {
	case IR_MOVE:
		return result;
	case IR_ARITH:
		return needed_by_arith(insn, result);
	case IR_EXTEND:
		if (insn->code == AGENT_EXT && (result & ~kept))
			return (result & kept) | UINT64_C(1) << (insn->b.value - 1);
		return result & kept;
	default:
		return all_bits;
	}
}

bool liveness_is_dead(const struct liveness *l, const struct ir_insn *insn)
{
	return ir_traits(insn)->plain && !ir_may_fail(insn) &&
	       l->needed[insn->slot] == 0;
}

void liveness_end(struct liveness *l)
{
	memset(l->needed, 0, sizeof(l->needed));
}

static void note_label(struct liveness *l, uint32_t label)
{
	for (unsigned int i = 0; i < TIDY_SLOTS; i++)
		if (l->needed[i])
			slot_set_add(&l->labels[label], i);
}

static void need_label(struct liveness *l, uint32_t label)
{
	for (unsigned int i = 0; i < TIDY_SLOTS; i++)
		if (slot_set_has(&l->labels[label], i))
			l->needed[i] = all_bits;
}

/* Even if no bit of it matters, as in (a << 8) & 1, it is read. */
static void need(struct liveness *l, struct ir_operand operand, uint64_t bits)
{
	if (operand.kind == IR_SLOT)
		l->needed[operand.value] |= bits ? bits : 1;
}

void liveness_back(struct liveness *l, const struct ir_insn *insn)
{
	const struct ir_traits *traits = ir_traits(insn);
	uint64_t bits = needed_by(insn, l->needed[insn->slot]);

	if (liveness_is_dead(l, insn))
		return;
	if (insn->op == IR_LABEL)
		note_label(l, insn->label);
	if (insn->op == IR_JUMP)
		liveness_end(l);
	if (insn->op == IR_JUMP || insn->op == IR_BRANCH)
		need_label(l, insn->label);
	if (traits->sets)
		l->needed[insn->slot] = 0;
	if (!traits->ignores_a)
		need(l, insn->a, bits);
	if (!traits->ignores_b)
		need(l, insn->b, bits);
}

/*
 * Each pass brings what is needed in a loop to those inside. That takes as many passes
 * as there are jumps back one after the other: few, or the code is a freak, and then
 * all is needed everywhere.
 */
int liveness_init(struct liveness *l, const struct ir *ir)
{
	enum { PASSES_MAX = 32 };
	size_t size = ir->labels * sizeof(*l->labels);
	_cleanup_free_ struct slot_set *before = calloc(1, size);

	*l = (struct liveness){.labels = calloc(1, size)};
	if (!l->labels || !before)
		return -ENOMEM;
	for (int pass = 0; pass == 0 || memcmp(before, l->labels, size) != 0; pass++) {
		if (pass == PASSES_MAX)
			memset(l->labels, 0xff, size);
		memcpy(before, l->labels, size);
		liveness_end(l);
		for (size_t i = ir->count; i-- > 0;)
			liveness_back(l, &ir->insns[i]);
	}
	liveness_end(l);
	return 0;
}

void liveness_deinit(struct liveness *l)
{
	free(l->labels);
}
