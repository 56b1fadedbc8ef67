/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/emit/emit_print.h"

#include "gdbstub/agent/capture.h"
#include "bpf/emit/emit_exits.h"
#include "bpf/emit/emit_shadow.h"
#include "bpf/emit/emit_values.h"

int16_t print_in_record(uint32_t offset)
{
	return (int16_t)(sizeof(struct bpf_output_record) + offset);
}

void print_load_record(struct bpf_emitter *e, uint8_t reg)
{
	bpf_emit(e, bpf_load(BPF_DW, reg, BPF_REG_FP, FRAME_OUTPUT));
}

static const struct capture_printf *find_printf(const struct compiler *c,
						const struct ir_insn *insn)
{
	return capture_find(&c->capture, c->command, insn->printf);
}

void print_emit(struct compiler *c, const struct ir_insn *insn)
{
	print_load_record(&c->emitter, BPF_REG_1);
	bpf_emit(&c->emitter,
		 bpf_store_imm(BPF_DW, BPF_REG_1,
			       print_in_record(find_printf(c, insn)->offset), 1));
}

static void store_value(struct compiler *c, const struct capture_argument *argument,
			struct ir_operand value)
{
	uint8_t reg = values_load(c, value, BPF_REG_2);

	print_load_record(&c->emitter, BPF_REG_1);
	bpf_emit(&c->emitter,
		 bpf_store(BPF_DW, BPF_REG_1, print_in_record(argument->offset), reg));
}

/* r0 = the length of the string at r3, with its NUL; else the record is given up. */
static void read_string(struct compiler *c, const struct capture_argument *argument)
{
	struct bpf_emitter *e = &c->emitter;
	int32_t room = (int32_t)argument->room;

	shadow_emit_check(c, room);
	print_load_record(e, BPF_REG_1);
	bpf_emit(e, bpf_alu_imm(BPF_ADD, BPF_REG_1,
				print_in_record(argument->offset + sizeof(uint64_t))));
	bpf_emit(e, bpf_alu_imm(BPF_MOV, BPF_REG_2, room));
	bpf_emit(e, bpf_call(BPF_FUNC_probe_read_user_str));
	exits_doubt(c, bpf_jump_if_imm(BPF_JSLE, BPF_REG_0, 0), BPF_DOUBT_PAGE);
	if (!argument->cut)
		exits_doubt(c, bpf_jump_if_imm(BPF_JSGE, BPF_REG_0, room),
			    BPF_DOUBT_STRING);
}

static void store_string(struct compiler *c, const struct capture_argument *argument,
			 struct ir_operand address)
{
	struct bpf_emitter *e = &c->emitter;
	uint32_t null = bpf_emit_new_labels(e, 1);

	values_load_into(c, address, BPF_REG_3);
	bpf_emit(e, bpf_alu_imm(BPF_MOV, BPF_REG_0, 0));
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JEQ, BPF_REG_3, 0), null);
	read_string(c, argument);
	bpf_emit_bind(e, null);
	print_load_record(e, BPF_REG_1);
	bpf_emit(e, bpf_store(BPF_DW, BPF_REG_1, print_in_record(argument->offset),
			      BPF_REG_0));
}

void print_emit_argument(struct compiler *c, const struct ir_insn *insn)
{
	const struct capture_argument *argument =
		&find_printf(c, insn)->arguments[insn->b.value];

	if (argument->room > 0)
		store_string(c, argument, insn->a);
	else
		store_value(c, argument, insn->a);
}
