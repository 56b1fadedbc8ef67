/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands: what they print is stored in a record, by the layout of agent/capture.h. */
#include "bpf/emit_capture.h"

#include "agent/capture.h"

#include <stddef.h>

#include "bpf/emit_exits.h"
#include "bpf/emit_operations.h"
#include "bpf/emit_values.h"
#include "bpf/emit_where.h"

static int16_t in_record(uint32_t offset)
{
	return (int16_t)(sizeof(struct bpf_output_record) + offset);
}

static void load_record(struct bpf_emitter *e, uint8_t reg)
{
	bpf_emit(e, bpf_load(BPF_DW, reg, BPF_REG_FP, FRAME_OUTPUT));
}

/* Ends the record by one of the two helpers for that. */
static void finish_record(struct bpf_emitter *e, int32_t helper)
{
	load_record(e, BPF_REG_1);
	bpf_emit(e, bpf_alu_imm(BPF_MOV, BPF_REG_2, 0));
	bpf_emit(e, bpf_call(helper));
}

static const struct capture_printf *find_printf(const struct compiler *c,
						const struct ir_insn *insn)
{
	return capture_find(&c->capture, c->command, insn->printf);
}

void capture_print(struct compiler *c, const struct ir_insn *insn)
{
	load_record(&c->emitter, BPF_REG_1);
	bpf_emit(&c->emitter,
		 bpf_store_imm(BPF_DW, BPF_REG_1,
			       in_record(find_printf(c, insn)->offset), 1));
}

static void store_value(struct compiler *c, const struct capture_argument *argument,
			struct ir_operand value)
{
	uint8_t reg = values_load(c, value, BPF_REG_2);

	load_record(&c->emitter, BPF_REG_1);
	bpf_emit(&c->emitter,
		 bpf_store(BPF_DW, BPF_REG_1, in_record(argument->offset), reg));
}

/* r0 = the length of the string at r3, with its NUL; else the record is given up. */
static void read_string(struct compiler *c, const struct capture_argument *argument)
{
	struct bpf_emitter *e = &c->emitter;
	int32_t room = (int32_t)argument->room;

	operations_check_shadow(c, room);
	load_record(e, BPF_REG_1);
	bpf_emit(e, bpf_alu_imm(BPF_ADD, BPF_REG_1,
				in_record(argument->offset + sizeof(uint64_t))));
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
	load_record(e, BPF_REG_1);
	bpf_emit(e,
		 bpf_store(BPF_DW, BPF_REG_1, in_record(argument->offset), BPF_REG_0));
}

void capture_store(struct compiler *c, const struct ir_insn *insn)
{
	const struct capture_argument *argument =
		&find_printf(c, insn)->arguments[insn->b.value];

	if (argument->room > 0)
		store_string(c, argument, insn->a);
	else
		store_value(c, argument, insn->a);
}

static void begin_record(struct compiler *c, uint32_t full)
{
	struct bpf_emitter *e = &c->emitter;

	where_emit_index(c, REG_LOCATION);
	bpf_emit_map(e, BPF_REG_1, c->options->output_fd);
	bpf_emit(e, bpf_alu_imm(BPF_MOV, BPF_REG_2, in_record(c->capture.size)));
	bpf_emit(e, bpf_alu_imm(BPF_MOV, BPF_REG_3, 0));
	bpf_emit(e, bpf_call(BPF_FUNC_ringbuf_reserve));
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JEQ, BPF_REG_0, 0), full);
	bpf_emit(e, bpf_store(BPF_DW, BPF_REG_FP, FRAME_OUTPUT, BPF_REG_0));
	bpf_emit(e,
		 bpf_store(BPF_DW, BPF_REG_0,
			   offsetof(struct bpf_output_record, location), REG_LOCATION));
	for (size_t i = 0; i < c->capture.count; i++)
		bpf_emit(e, bpf_store_imm(BPF_DW, BPF_REG_0,
					  in_record(c->capture.printfs[i].offset), 0));
}

void capture_emit(struct compiler *c, uint32_t captured)
{
	struct bpf_emitter *e = &c->emitter;
	uint32_t give_up = bpf_emit_new_labels(e, 2), full = give_up + 1;
	uint32_t label_maybe = c->label_maybe;
	bool used_maybe = c->used_maybe;
	unsigned int doubts = c->doubts;

	begin_record(c, full);
	c->label_maybe = give_up;
	c->used_maybe = false;
	c->doubts = 1U << BPF_DOUBT_FULL;
	for (c->command = 0; c->command < c->ncommands; c->command++)
		compile_ir(c, &c->commands[c->command]);
	finish_record(e, BPF_FUNC_ringbuf_submit);
	bpf_emit_jump(e, bpf_jump(), captured);
	if (c->used_maybe) {
		bpf_emit_bind(e, give_up);
		finish_record(e, BPF_FUNC_ringbuf_discard);
	}
	bpf_emit_bind(e, full);
	c->label_maybe = label_maybe;
	c->used_maybe = used_maybe;
	c->command_doubts = c->doubts;
	c->doubts = doubts;
}
