/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/pads/filter.h"

#include <errno.h>
#include <stdlib.h>

#include "gdbstub/agent/opcode.h"
#include "gdbstub/base/cleanup.h"
#include "gdbstub/ir/lower.h"

enum {
	CONDITIONS_MAX = 8,
	LOOP_STEPS = 1000, /* some microseconds */
};

/* A filter at work. */
struct filtering {
	const struct native_ops *ops;
	const struct agent_list *conditions;
	struct ir ir[CONDITIONS_MAX];
	unsigned int count;  /* of the conditions, lowered */
	unsigned int labels; /* the first of the condition that is emitted */
	const char *undecided;
	struct native_code *code;
};

static void filtering_deinit(struct filtering *f)
{
	for (unsigned int i = 0; i < f->count; i++)
		ir_deinit(&f->ir[i]);
	free(f->code);
}

/* ---- lowering ---- */

static unsigned int register_bits(void *data, unsigned int number)
{
	struct filtering *f = data;
	const unsigned int bits = f->ops->register_bits(number);

	if (bits == 0)
		f->undecided = "a register that filters do not read";
	return bits;
}

static bool has_variable(void *data, unsigned int number)
{
	struct filtering *f = data;

	(void)number;
	f->undecided = "a trace state variable";
	return false;
}

static void note(void *data, const char *reason)
{
	(void)reason;
	((struct filtering *)data)->undecided = "more than filters do";
}

static struct error *lower(struct filtering *f)
{
	const struct ir_target target = {
		.slots = f->ops->slots,
		.loop_steps = LOOP_STEPS,
		.register_bits = register_bits,
		.has_variable = has_variable,
		.undecided = note,
		.data = f,
	};

	while (f->count < f->conditions->count) {
		struct ir *ir = &f->ir[f->count];
		struct error *error =
			ir_lower(f->conditions->exprs[f->count], &target, ir);

		if (error)
			return error;
		f->count++;
		if (!ir->used[IR_FALSE])
			return error_create(0, "the condition needs %s",
					    f->undecided ? f->undecided : "no filter");
	}
	return NULL;
}

/* ---- emitting ---- */

static struct native_operand operand(struct ir_operand from)
{
	static const int kinds[] = {
		[IR_SLOT] = NATIVE_SLOT,
		[IR_CONST] = NATIVE_CONSTANT,
		[IR_REGISTER] = NATIVE_REGISTER,
	};

	return (struct native_operand){.kind = kinds[from.kind], .value = from.value};
}

static unsigned int label(const struct filtering *f, uint32_t number)
{
	return number == IR_TRUE || number == IR_MAYBE ? NATIVE_NOT_FALSE
						       : f->labels + number;
}

static enum native_compare compare(const struct ir_insn *insn)
{
	static const enum native_compare compares[] = {
		[IR_EQ] = NATIVE_EQ,
		[IR_NE] = NATIVE_NE,
		[IR_LT_SIGNED] = NATIVE_LT_SIGNED,
		[IR_LE_SIGNED] = NATIVE_LE_SIGNED,
		[IR_GT_SIGNED] = NATIVE_GT_SIGNED,
		[IR_GE_SIGNED] = NATIVE_GE_SIGNED,
		[IR_LT_UNSIGNED] = NATIVE_LT_UNSIGNED,
		[IR_LE_UNSIGNED] = NATIVE_LE_UNSIGNED,
		[IR_GT_UNSIGNED] = NATIVE_GT_UNSIGNED,
		[IR_GE_UNSIGNED] = NATIVE_GE_UNSIGNED,
	};

	return compares[insn->compare];
}

static void emit_label(struct filtering *f, const struct ir_insn *insn)
{
	native_bind(f->code, label(f, insn->label));
}

static void emit_jump(struct filtering *f, const struct ir_insn *insn)
{
	f->ops->jump(f->code, label(f, insn->label));
}

static void emit_branch(struct filtering *f, const struct ir_insn *insn)
{
	f->ops->branch(f->code, compare(insn), operand(insn->a), operand(insn->b),
		       label(f, insn->label));
}

static void emit_set(struct filtering *f, const struct ir_insn *insn)
{
	f->ops->set(f->code, compare(insn), insn->slot, operand(insn->a),
		    operand(insn->b));
}

static void emit_move(struct filtering *f, const struct ir_insn *insn)
{
	f->ops->move(f->code, insn->slot, operand(insn->a));
}

static void emit_arith(struct filtering *f, const struct ir_insn *insn)
{
	static const enum native_arith ariths[] = {
		[AGENT_ADD] = NATIVE_ADD,
		[AGENT_SUB] = NATIVE_SUB,
		[AGENT_MUL] = NATIVE_MUL,
		[AGENT_DIV_SIGNED] = NATIVE_DIV_SIGNED,
		[AGENT_DIV_UNSIGNED] = NATIVE_DIV_UNSIGNED,
		[AGENT_REM_SIGNED] = NATIVE_REM_SIGNED,
		[AGENT_REM_UNSIGNED] = NATIVE_REM_UNSIGNED,
		[AGENT_LSH] = NATIVE_LSH,
		[AGENT_RSH_SIGNED] = NATIVE_RSH_SIGNED,
		[AGENT_RSH_UNSIGNED] = NATIVE_RSH_UNSIGNED,
		[AGENT_BIT_AND] = NATIVE_AND,
		[AGENT_BIT_OR] = NATIVE_OR,
		[AGENT_BIT_XOR] = NATIVE_XOR,
	};

	f->ops->arith(f->code, ariths[insn->code], insn->slot, operand(insn->a),
		      operand(insn->b));
}

static void emit_extend(struct filtering *f, const struct ir_insn *insn)
{
	f->ops->extend(f->code, insn->code == AGENT_EXT, (unsigned int)insn->b.value,
		       insn->slot, operand(insn->a));
}

static void emit_ref(struct filtering *f, const struct ir_insn *insn)
{
	f->ops->load(f->code, (unsigned int)insn->b.value, insn->slot,
		     operand(insn->a));
}

/* Conditions print nothing, and variables are not read. */
static void (*const operations[])(struct filtering *f, const struct ir_insn *insn) = {
	[IR_LABEL] = emit_label, [IR_JUMP] = emit_jump,	    [IR_BRANCH] = emit_branch,
	[IR_SET] = emit_set,	 [IR_MOVE] = emit_move,	    [IR_HIDE] = emit_move,
	[IR_ARITH] = emit_arith, [IR_EXTEND] = emit_extend, [IR_REF] = emit_ref,
};

static bool emit_condition(struct filtering *f, const struct ir *ir)
{
	f->labels = native_new_labels(f->code, ir->labels);
	for (size_t i = 0; i < ir->count && !f->code->failed; i++) {
		const enum ir_op op = ir->insns[i].op;

		if (op >= sizeof(operations) / sizeof(*operations) || !operations[op])
			return false;
		operations[op](f, &ir->insns[i]);
	}
	return !f->code->failed;
}

/* With the registers that the code is known to need. */
static bool emit(struct filtering *f, const struct filter_place *place,
		 unsigned int trap_len)
{
	const uint32_t used = f->code->used;

	*f->code = (struct native_code){
		.pc = place->pc,
		.shared = place->shared,
		.counter = place->counter,
		.needs_server = place->needs_server,
		.used = used,
	};
	f->ops->begin(f->code);
	if (f->count == 0)
		f->ops->jump(f->code, NATIVE_NOT_FALSE);
	else if (place->has_sequence)
		f->ops->check_thread_word(f->code, place->sequence);
	for (unsigned int i = 0; i < f->count; i++)
		if (!emit_condition(f, &f->ir[i]))
			return false;
	f->ops->end(f->code, trap_len);
	native_link(f->code, f->ops);
	return !f->code->failed;
}

struct error *filter_create(const struct arch_ops *arch,
			    const struct agent_list *conditions,
			    const struct filter_place *place, unsigned int trap_len,
			    struct native_code **ret)
{
	_cleanup_(filtering_deinit) struct filtering f = {.ops = arch->native,
							  .conditions = conditions};
	struct error *error;

	if (!f.ops || !f.ops->usable())
		return error_create(0, "this processor has none");
	if (conditions->count == 0 && !place->needs_server)
		return error_create(0, "there is no condition");
	if (conditions->count > CONDITIONS_MAX)
		return error_create(0, "there are too many conditions");
	error = lower(&f);
	if (error)
		return error;
	f.code = calloc(1, sizeof(*f.code));
	if (!f.code)
		return error_create(ENOMEM, "a filter");
	if (!emit(&f, place, trap_len) || !emit(&f, place, trap_len))
		return error_create(0, "the condition is too long");
	*ret = take_ptr(f.code);
	return NULL;
}
