/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/emit/emit_values.h"

#include "bpf/emit/emit_exits.h"
#include "bpf/emit/emit_kernel_mode.h"

bool values_is_imm(struct ir_operand operand)
{
	return operand.kind == IR_CONST && bpf_fits_imm(operand.value);
}

static bool slot_in_register(uint64_t number)
{
	return number < SLOT_REGS;
}

static int16_t slot_offset(uint64_t number)
{
	return (int16_t)(FRAME_SLOTS - 8 * (int)(number - SLOT_REGS));
}

void values_zero_extend(struct bpf_emitter *e, uint8_t reg, unsigned int bits)
{
	if (bits < 32) {
		bpf_emit(e, bpf_alu_imm(BPF_AND, reg, (int32_t)((1U << bits) - 1)));
	} else if (bits == 32) {
		bpf_emit(e, bpf_mov32(reg, reg));
	} else if (bits < 64) {
		bpf_emit(e, bpf_alu_imm(BPF_LSH, reg, 64 - (int32_t)bits));
		bpf_emit(e, bpf_alu_imm(BPF_RSH, reg, 64 - (int32_t)bits));
	}
}

void values_sign_extend(struct bpf_emitter *e, uint8_t reg, unsigned int bits)
{
	bpf_emit(e, bpf_alu_imm(BPF_LSH, reg, 64 - (int32_t)bits));
	bpf_emit(e, bpf_alu_imm(BPF_ARSH, reg, 64 - (int32_t)bits));
}

/* After the access, and at a uprobe, nothing is set. */
static bool at_execute_breakpoint(const struct compiler *c)
{
	return c->options->site.kind == BPF_KIND_EVENT &&
	       !c->options->site.watch.access;
}

/* The context is read in 8 bytes only; a narrower register is cut down to size. */
void values_load_register(struct compiler *c, uint64_t number, uint8_t reg)
{
	const struct reg_def *row = &c->registers[number];
	const struct bpf_rule *rule = &row->bpf_rule;

	if (c->options->site.in_pad && number == c->options->arch->pc_reg) {
		values_load_pc(c, reg);
		return;
	}
	kernel_mode_check_user(c, reg);
	bpf_emit(&c->emitter, bpf_load(BPF_DW, reg, REG_CONTEXT, row->bpf_offset));
	values_zero_extend(&c->emitter, reg, rule->bits ? rule->bits : row->bits);
	/* What the stub decides, it does after the access. */
	if (c->options->site.watch.stub_decides && number == c->options->arch->pc_reg)
		bpf_emit(&c->emitter, bpf_alu_imm(BPF_ADD, reg, STORE_INSN_LEN));
	if (rule->unsure)
		exits_doubt(c, bpf_jump_if_imm(BPF_JSET, reg, (int32_t)rule->unsure),
			    BPF_DOUBT_REGISTER);
	if (rule->set && at_execute_breakpoint(c))
		bpf_emit(&c->emitter, bpf_alu_imm(BPF_OR, reg, (int32_t)rule->set));
}

void values_load_pc(struct compiler *c, uint8_t reg)
{
	if (c->options->site.in_pad)
		bpf_emit(&c->emitter, bpf_load(BPF_DW, reg, BPF_REG_FP, FRAME_PC));
	else
		values_load_context_pc(c, reg);
}

void values_load_context_pc(struct compiler *c, uint8_t reg)
{
	const struct reg_def *pc = &c->registers[c->options->arch->pc_reg];

	bpf_emit(&c->emitter, bpf_load(BPF_DW, reg, REG_CONTEXT, pc->bpf_offset));
}

void values_store_pc(struct compiler *c, uint8_t reg)
{
	const struct reg_def *pc = &c->registers[c->options->arch->pc_reg];

	bpf_emit(&c->emitter, bpf_store(BPF_DW, REG_CONTEXT, pc->bpf_offset, reg));
}

uint8_t values_load(struct compiler *c, struct ir_operand operand, uint8_t scratch)
{
	switch (operand.kind) {
	case IR_CONST:
		bpf_emit_const(&c->emitter, scratch, operand.value);
		break;
	case IR_REGISTER:
		values_load_register(c, operand.value, scratch);
		break;
	case IR_SLOT:
		if (slot_in_register(operand.value))
			return (uint8_t)(REG_SLOT + operand.value);
		bpf_emit(&c->emitter, bpf_load(BPF_DW, scratch, BPF_REG_FP,
					       slot_offset(operand.value)));
		break;
	}
	return scratch;
}

void values_load_into(struct compiler *c, struct ir_operand operand, uint8_t reg)
{
	uint8_t from = values_load(c, operand, reg);

	if (from != reg)
		bpf_emit(&c->emitter, bpf_alu(BPF_MOV, reg, from));
}

void values_store_slot(struct compiler *c, unsigned int number, uint8_t reg)
{
	if (!slot_in_register(number))
		bpf_emit(&c->emitter,
			 bpf_store(BPF_DW, BPF_REG_FP, slot_offset(number), reg));
	else if (reg != REG_SLOT + number)
		bpf_emit(&c->emitter,
			 bpf_alu(BPF_MOV, (uint8_t)(REG_SLOT + number), reg));
}

uint8_t values_result_reg(unsigned int number, struct ir_operand other)
{
	if (slot_in_register(number) && !ir_is_slot(other, number))
		return (uint8_t)(REG_SLOT + number);
	return BPF_REG_0;
}
