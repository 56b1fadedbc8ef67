/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/ir/facts.h"

#include <limits.h>

#include "gdbstub/agent/arith.h"
#include "gdbstub/ir/traits.h"

/* What is known of a value: it is base + offset (a constant is a base without
 * offset), and how narrow it is. */
struct fact {
	struct ir_operand base;
	uint64_t offset;
	struct widths {
		unsigned int zero; /* the bits from this one on are 0 */
		unsigned int sign; /* ... are equal to the one below */
	} widths;
};

/* A value that is nothing but what is in the slot has the slot as its base. */
struct facts {
	const struct ir_target *target;
	struct fact slots[TIDY_SLOTS];
};

static struct widths zero_width(unsigned int bits)
{
	return (struct widths){bits, bits < 64 ? bits + 1 : 64};
}

static struct widths sign_width(unsigned int bits)
{
	return (struct widths){64, bits};
}

static unsigned int bits_of(uint64_t value)
{
	return value ? 64 - (unsigned int)__builtin_clzll(value) : 0;
}

static struct widths constant_widths(uint64_t value)
{
	uint64_t magnitude = (int64_t)value < 0 ? ~value : value;

	return (struct widths){bits_of(value), bits_of(magnitude) + 1};
}

static struct fact fact_of(const struct facts *f, struct ir_operand operand)
{
	struct fact fact = {.base = operand, .widths = zero_width(64)};

	if (operand.kind == IR_SLOT)
		return f->slots[operand.value];
	if (operand.kind == IR_CONST)
		fact.widths = constant_widths(operand.value);
	else
		fact.widths = zero_width(f->target->register_bits(
			f->target->data, (unsigned int)operand.value));
	return fact;
}

static void forget_all(struct facts *f)
{
	for (unsigned int i = 0; i < TIDY_SLOTS; i++)
		f->slots[i] =
			(struct fact){.base = ir_slot(i), .widths = zero_width(64)};
}

/* The slot is written: no other value is known by what it was. */
static void learn(struct facts *f, unsigned int slot, struct fact fact)
{
	for (unsigned int i = 0; i < TIDY_SLOTS; i++) {
		if (i == slot || !ir_is_slot(f->slots[i].base, slot))
			continue;
		f->slots[i].base = ir_slot(i);
		f->slots[i].offset = 0;
	}
	if (ir_is_slot(fact.base, slot))
		fact.offset = 0;
	f->slots[slot] = fact;
}

static unsigned int max(unsigned int a, unsigned int b)
{
	return a > b ? a : b;
}

static unsigned int min(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

static struct widths shifted_widths(uint8_t code, struct widths a, unsigned int count)
{
	if (code == AGENT_RSH_UNSIGNED && count > 0)
		return zero_width(max(min(a.zero, 64), count) - count);
	if (code == AGENT_RSH_SIGNED)
		return sign_width(max(a.sign, count + 1) - count);
	return zero_width(64);
}

/* Only of operations that gdb mixes with extensions. */
static struct widths arith_widths(const struct ir_insn *insn, struct widths a,
				  struct widths b)
{
	switch (insn->code) {
	case AGENT_BIT_AND:
		return zero_width(min(a.zero, b.zero));
	case AGENT_BIT_OR:
	case AGENT_BIT_XOR:
		return (struct widths){max(a.zero, b.zero), max(a.sign, b.sign)};
	case AGENT_RSH_SIGNED:
	case AGENT_RSH_UNSIGNED:
		if (insn->b.kind == IR_CONST)
			return shifted_widths(insn->code, a, insn->b.value & 63);
	}
	return zero_width(64);
}

static void become_move(struct ir_insn *insn, struct ir_operand a)
{
	*insn = (struct ir_insn){.op = IR_MOVE, .slot = insn->slot, .a = a};
}

/* Constants to the right, and no subtraction of them. */
static void normalize(struct ir_insn *insn)
{
	struct ir_operand a = insn->a;
	bool commutes = insn->code == AGENT_ADD || insn->code == AGENT_MUL ||
			(insn->code >= AGENT_BIT_AND && insn->code <= AGENT_BIT_XOR);

	if (commutes && a.kind == IR_CONST) {
		insn->a = insn->b;
		insn->b = a;
	}
	if (insn->code == AGENT_SUB && insn->b.kind == IR_CONST) {
		insn->code = AGENT_ADD;
		insn->b.value = -insn->b.value;
	}
}

static void simplify_arith(struct facts *f, struct ir_insn *insn)
{
	uint64_t value;
	struct fact a;

	if (insn->a.kind == IR_CONST && insn->b.kind == IR_CONST &&
	    agent_arith(insn->code, insn->a.value, insn->b.value, &value) == 0) {
		become_move(insn, ir_constant(value));
		return;
	}
	if (ir_divides(insn) && ir_is_constant(insn->b, 0)) {
		f->target->undecided(f->target->data, "divides by zero");
		*insn = (struct ir_insn){.op = IR_JUMP, .label = IR_MAYBE};
		return;
	}
	normalize(insn);
	if (insn->code != AGENT_ADD || insn->b.kind != IR_CONST)
		return;
	a = fact_of(f, insn->a);
	insn->a = a.base;
	insn->b.value += a.offset;
	if (insn->b.value == 0)
		become_move(insn, a.base);
}

static void simplify_extend(struct facts *f, struct ir_insn *insn)
{
	struct widths a = fact_of(f, insn->a).widths;
	unsigned int bits = (unsigned int)insn->b.value;

	if (insn->a.kind == IR_CONST)
		become_move(insn,
			    ir_constant(agent_extend(insn->code, insn->a.value, bits)));
	else if (insn->code == AGENT_EXT ? a.sign <= bits : a.zero <= bits)
		become_move(insn, insn->a);
}

static bool holds(enum ir_compare compare, uint64_t a, uint64_t b)
{
	switch (compare) {
	case IR_EQ:
		return a == b;
	case IR_LT_SIGNED:
		return (int64_t)a < (int64_t)b;
	case IR_LT_UNSIGNED:
		return a < b;
	case IR_GT_SIGNED:
	case IR_GT_UNSIGNED:
		return holds(ir_compare_swapped(compare), b, a);
	default:
		return !holds(ir_compare_negated(compare), a, b);
	}
}

static void simplify_comparison(struct ir_insn *insn)
{
	bool result;

	if (insn->a.kind != IR_CONST || insn->b.kind != IR_CONST)
		return;
	result = holds(insn->compare, insn->a.value, insn->b.value);
	if (insn->op == IR_SET)
		become_move(insn, ir_constant(result));
	else if (result)
		*insn = (struct ir_insn){.op = IR_JUMP, .label = insn->label};
	else
		ir_remove(insn);
}

/* The value of its base, if there is no offset. */
static struct ir_operand original(const struct facts *f, struct ir_operand operand)
{
	struct fact fact = fact_of(f, operand);

	return fact.offset == 0 ? fact.base : operand;
}

static void simplify(struct facts *f, struct ir_insn *insn)
{
	const struct ir_traits *traits = ir_traits(insn);

	if (!traits->ignores_a)
		insn->a = original(f, insn->a);
	if (!traits->ignores_b)
		insn->b = original(f, insn->b);
	if (insn->op == IR_ARITH)
		simplify_arith(f, insn);
	else if (insn->op == IR_EXTEND)
		simplify_extend(f, insn);
	else if (insn->op == IR_BRANCH || insn->op == IR_SET)
		simplify_comparison(insn);
}

/* What is known of the value that the operation writes to its slot. */
static struct fact result_of(const struct facts *f, const struct ir_insn *insn)
{
	struct fact result = {.base = ir_slot(insn->slot), .widths = zero_width(64)};
	unsigned int bits = (unsigned int)insn->b.value;

	switch (insn->op) {
	case IR_MOVE:
		return fact_of(f, insn->a);
	case IR_SET:
		result.widths = zero_width(1);
		break;
	case IR_REF:
		result.widths = zero_width(CHAR_BIT * bits);
		break;
	case IR_EXTEND:
		result.widths =
			insn->code == AGENT_EXT ? sign_width(bits) : zero_width(bits);
		break;
	case IR_ARITH:
		result.widths = arith_widths(insn, fact_of(f, insn->a).widths,
					     fact_of(f, insn->b).widths);
		if (insn->code == AGENT_ADD && insn->b.kind == IR_CONST) {
			result.base = insn->a;
			result.offset = insn->b.value;
		}
		break;
	default:
		break;
	}
	return result;
}

void tidy_facts(struct ir *ir, const struct ir_target *target)
{
	struct facts f = {.target = target};

	forget_all(&f);
	for (size_t i = 0; i < ir->count; i++) {
		struct ir_insn *insn = &ir->insns[i];

		if (insn->op == IR_LABEL)
			forget_all(&f);
		simplify(&f, insn);
		if (ir_traits(insn)->sets && !ir_is_idle(insn))
			learn(&f, insn->slot, result_of(&f, insn));
	}
}
