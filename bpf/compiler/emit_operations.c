/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/compiler/emit_operations.h"

#include <stddef.h>

#include "gdbstub/agent/opcode.h"
#include "bpf/emit/emit_constants.h"
#include "bpf/emit/emit_exits.h"
#include "bpf/emit/emit_print.h"
#include "bpf/emit/emit_scratch.h"
#include "bpf/emit/emit_shadow.h"
#include "bpf/emit/emit_values.h"
#include "bpf/compiler/emit_tid.h"
#include "bpf/compiler/emit_variables.h"
#include "bpf/compiler/emit_watch.h"
#include "bpf/compiler/emit_watch_ahead.h"

static const struct arith_def {
	uint8_t op;
	bool is_shift;
} ariths[] = {
	[AGENT_ADD] = {BPF_ADD, false},		 [AGENT_SUB] = {BPF_SUB, false},
	[AGENT_MUL] = {BPF_MUL, false},		 [AGENT_DIV_SIGNED] = {BPF_DIV, false},
	[AGENT_DIV_UNSIGNED] = {BPF_DIV, false}, [AGENT_REM_SIGNED] = {BPF_MOD, false},
	[AGENT_REM_UNSIGNED] = {BPF_MOD, false}, [AGENT_LSH] = {BPF_LSH, true},
	[AGENT_RSH_SIGNED] = {BPF_ARSH, true},	 [AGENT_RSH_UNSIGNED] = {BPF_RSH, true},
	[AGENT_BIT_AND] = {BPF_AND, false},	 [AGENT_BIT_OR] = {BPF_OR, false},
	[AGENT_BIT_XOR] = {BPF_XOR, false},
};

static void compile_plain_arith(struct compiler *c, const struct ir_insn *insn)
{
	const struct arith_def *def = &ariths[insn->code];
	uint8_t reg = values_result_reg(insn->slot, insn->b);
	struct ir_operand b = insn->b;

	/* A count in a register is masked by BPF itself, an immediate is not. */
	if (def->is_shift && b.kind == IR_CONST)
		b.value &= 63;
	values_load_into(c, insn->a, reg);
	if (values_is_imm(b))
		bpf_emit(&c->emitter, bpf_alu_imm(def->op, reg, (int32_t)b.value));
	else
		bpf_emit(&c->emitter,
			 bpf_alu(def->op, reg, values_load(c, b, BPF_REG_2)));
	values_store_slot(c, insn->slot, reg);
}

/* if (reg < 0) reg = -reg, where @sign decides */
static void negate_if_negative(struct bpf_emitter *e, uint8_t sign, uint8_t reg)
{
	uint32_t done = bpf_emit_new_labels(e, 1);

	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JSGE, sign, 0), done);
	bpf_emit(e, bpf_alu_imm(BPF_NEG, reg, 0));
	bpf_emit_bind(e, done);
}

/* r1 = r1 op r2 by the magnitudes; the smallest number is its own magnitude. */
static void divide_by_magnitudes(struct bpf_emitter *e, uint8_t op)
{
	bpf_emit(e, bpf_alu(BPF_MOV, BPF_REG_3, BPF_REG_1));
	if (op == BPF_DIV)
		bpf_emit(e, bpf_alu(BPF_XOR, BPF_REG_3, BPF_REG_2));
	negate_if_negative(e, BPF_REG_1, BPF_REG_1);
	negate_if_negative(e, BPF_REG_2, BPF_REG_2);
	bpf_emit(e, bpf_alu(op, BPF_REG_1, BPF_REG_2));
	negate_if_negative(e, BPF_REG_3, BPF_REG_1);
}

/* r1 = r1 op r2, by the signed instruction. Some kernels that have it trap on the
 * smallest number / -1 (before commit 7dd34d7b7dcf), so -1 never gets there. */
static void divide_natively(struct bpf_emitter *e, uint8_t op)
{
	uint32_t plain = bpf_emit_new_labels(e, 2), done = plain + 1;
	struct bpf_insn divide = bpf_alu(op, BPF_REG_1, BPF_REG_2);

	divide.off = 1;
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JNE, BPF_REG_2, -1), plain);
	bpf_emit(e, op == BPF_DIV ? bpf_alu_imm(BPF_NEG, BPF_REG_1, 0)
				  : bpf_alu_imm(BPF_MOV, BPF_REG_1, 0));
	bpf_emit_jump(e, bpf_jump(), done);
	bpf_emit_bind(e, plain);
	bpf_emit(e, divide);
	bpf_emit_bind(e, done);
}

static void compile_division(struct compiler *c, const struct ir_insn *insn)
{
	struct bpf_emitter *e = &c->emitter;
	uint8_t op = ariths[insn->code].op;
	bool is_signed =
		insn->code == AGENT_DIV_SIGNED || insn->code == AGENT_REM_SIGNED;

	values_load_into(c, insn->a, BPF_REG_1);
	values_load_into(c, insn->b, BPF_REG_2);
	if (insn->b.kind != IR_CONST)
		exits_doubt(c, bpf_jump_if_imm(BPF_JEQ, BPF_REG_2, 0),
			    BPF_DOUBT_DIVISOR);
	if (!is_signed)
		bpf_emit(e, bpf_alu(op, BPF_REG_1, BPF_REG_2));
	else if (c->options->signed_division)
		divide_natively(e, op);
	else
		divide_by_magnitudes(e, op);
	values_store_slot(c, insn->slot, BPF_REG_1);
}

static void compile_arith(struct compiler *c, const struct ir_insn *insn)
{
	if (insn->code >= AGENT_DIV_SIGNED && insn->code <= AGENT_REM_UNSIGNED)
		compile_division(c, insn);
	else
		compile_plain_arith(c, insn);
}

static void compile_move(struct compiler *c, const struct ir_insn *insn)
{
	uint8_t reg = values_result_reg(insn->slot, insn->a);

	values_store_slot(c, insn->slot, values_load(c, insn->a, reg));
}

/* To the verifier, a register of the thread may have any value, and so may what it
 * is xored with, even with itself. */
static void compile_hide(struct compiler *c, const struct ir_insn *insn)
{
	struct bpf_emitter *e = &c->emitter;

	values_load_pc(c, BPF_REG_0);
	bpf_emit(e, bpf_alu(BPF_XOR, BPF_REG_0, BPF_REG_0));
	if (values_is_imm(insn->a))
		bpf_emit(e, bpf_alu_imm(BPF_XOR, BPF_REG_0, (int32_t)insn->a.value));
	else
		bpf_emit(e, bpf_alu(BPF_XOR, BPF_REG_0,
				    values_load(c, insn->a, BPF_REG_2)));
	values_store_slot(c, insn->slot, BPF_REG_0);
}

static void compile_extend(struct compiler *c, const struct ir_insn *insn)
{
	uint8_t reg = values_result_reg(insn->slot, insn->b);
	unsigned int bits = (unsigned int)insn->b.value;

	values_load_into(c, insn->a, reg);
	if (insn->code == AGENT_EXT)
		values_sign_extend(&c->emitter, reg, bits);
	else
		values_zero_extend(&c->emitter, reg, bits);
	values_store_slot(c, insn->slot, reg);
}

static uint32_t label(const struct compiler *c, uint32_t ir_label)
{
	if (ir_label == IR_TRUE)
		return c->label_true;
	if (ir_label == IR_MAYBE)
		return c->label_maybe;
	return c->labels + ir_label;
}

static void compile_condition(struct compiler *c, const struct ir_insn *insn,
			      uint32_t target)
{
	static const uint8_t ops[] = {
		[IR_EQ] = BPF_JEQ,	    [IR_NE] = BPF_JNE,
		[IR_LT_SIGNED] = BPF_JSLT,  [IR_LE_SIGNED] = BPF_JSLE,
		[IR_GT_SIGNED] = BPF_JSGT,  [IR_GE_SIGNED] = BPF_JSGE,
		[IR_LT_UNSIGNED] = BPF_JLT, [IR_LE_UNSIGNED] = BPF_JLE,
		[IR_GT_UNSIGNED] = BPF_JGT, [IR_GE_UNSIGNED] = BPF_JGE,
	};
	enum ir_compare compare = insn->compare;
	struct ir_operand a = insn->a, b = insn->b;
	uint8_t reg, other = BPF_REG_2;

	if (a.kind == IR_CONST) {
		a = insn->b;
		b = insn->a;
		compare = ir_compare_swapped(compare);
	}
	reg = values_load(c, a, BPF_REG_1);
	if (!constants_emit_load(c, b, other)) {
		if (values_is_imm(b)) {
			bpf_emit_jump(
				&c->emitter,
				bpf_jump_if_imm(ops[compare], reg, (int32_t)b.value),
				target);
			return;
		}
		other = values_load(c, b, other);
	}
	bpf_emit_jump(&c->emitter, bpf_jump_if(ops[compare], reg, other), target);
}

static void compile_branch(struct compiler *c, const struct ir_insn *insn)
{
	compile_condition(c, insn, label(c, insn->label));
}

static void compile_set(struct compiler *c, const struct ir_insn *insn)
{
	uint32_t done = bpf_emit_new_labels(&c->emitter, 1);

	bpf_emit(&c->emitter, bpf_alu_imm(BPF_MOV, BPF_REG_0, 1));
	compile_condition(c, insn, done);
	bpf_emit(&c->emitter, bpf_alu_imm(BPF_MOV, BPF_REG_0, 0));
	bpf_emit_bind(&c->emitter, done);
	values_store_slot(c, insn->slot, BPF_REG_0);
}

static void compile_ref(struct compiler *c, const struct ir_insn *insn)
{
	static const uint8_t sizes[] = {
		[1] = BPF_B, [2] = BPF_H, [4] = BPF_W, [8] = BPF_DW};
	struct bpf_emitter *e = &c->emitter;
	uint8_t reg = values_result_reg(insn->slot, insn->b);
	int32_t size = (int32_t)insn->b.value;
	int16_t frame = FRAME_SCRATCH;

	values_load_into(c, insn->a, BPF_REG_3);
	shadow_emit_check(c, size);
	if (!watch_has(c, insn->a, size, &frame)) {
		watch_ahead_check_read(c, size);
		scratch_emit_read(e, BPF_FUNC_probe_read_user, size);
		exits_doubt(c, bpf_jump_if_imm(BPF_JNE, BPF_REG_0, 0), BPF_DOUBT_PAGE);
	}
	bpf_emit(e, bpf_load(sizes[size], reg, BPF_REG_FP, frame));
	values_store_slot(c, insn->slot, reg);
}

static void compile_label(struct compiler *c, const struct ir_insn *insn)
{
	bpf_emit_bind(&c->emitter, label(c, insn->label));
}

static void compile_jump(struct compiler *c, const struct ir_insn *insn)
{
	bpf_emit_jump(&c->emitter, bpf_jump(), label(c, insn->label));
}

static void (*const operations[])(struct compiler *c, const struct ir_insn *insn) = {
	[IR_LABEL] = compile_label,	[IR_JUMP] = compile_jump,
	[IR_BRANCH] = compile_branch,	[IR_SET] = compile_set,
	[IR_MOVE] = compile_move,	[IR_HIDE] = compile_hide,
	[IR_ARITH] = compile_arith,	[IR_EXTEND] = compile_extend,
	[IR_REF] = compile_ref,		[IR_THREAD] = tid_emit_use,
	[IR_GETV] = variables_emit_use, [IR_SETV] = variables_emit_use,
	[IR_PRINT] = print_emit,	[IR_STORE] = print_emit_argument,
};

void operations_emit(struct compiler *c, const struct ir *ir)
{
	c->labels = bpf_emit_new_labels(&c->emitter, ir->labels);
	for (size_t i = 0; i < ir->count; i++)
		operations[ir->insns[i].op](c, &ir->insns[i]);
	c->used_true |= ir->used[IR_TRUE];
	c->used_maybe |= ir->used[IR_MAYBE];
}
