/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands: what they print is stored in a record, by the layout of
 * gdbstub/agent/capture.h. */
#include "bpf/compiler/emit_capture.h"

#include "gdbstub/agent/capture.h"

#include <stddef.h>

#include "bpf/compiler/emit_operations.h"
#include "bpf/emit/emit_print.h"
#include "bpf/emit/emit_where.h"

/* Ends the record by one of the two helpers for that. */
static void finish_record(struct bpf_emitter *e, int32_t helper)
{
	print_load_record(e, BPF_REG_1);
	bpf_emit(e, bpf_alu_imm(BPF_MOV, BPF_REG_2, 0));
	bpf_emit(e, bpf_call(helper));
}

static void begprint_in_record(struct compiler *c, uint32_t full)
{
	struct bpf_emitter *e = &c->emitter;

	where_emit_index(c, REG_LOCATION);
	bpf_emit_map(e, BPF_REG_1, c->options->output_fd);
	bpf_emit(e, bpf_alu_imm(BPF_MOV, BPF_REG_2, print_in_record(c->capture.size)));
	bpf_emit(e, bpf_alu_imm(BPF_MOV, BPF_REG_3, 0));
	bpf_emit(e, bpf_call(BPF_FUNC_ringbuf_reserve));
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JEQ, BPF_REG_0, 0), full);
	bpf_emit(e, bpf_store(BPF_DW, BPF_REG_FP, FRAME_OUTPUT, BPF_REG_0));
	bpf_emit(e,
		 bpf_store(BPF_DW, BPF_REG_0,
			   offsetof(struct bpf_output_record, location), REG_LOCATION));
	for (size_t i = 0; i < c->capture.count; i++)
		bpf_emit(e, bpf_store_imm(BPF_DW, BPF_REG_0,
					  print_in_record(c->capture.printfs[i].offset),
					  0));
}

void capture_emit(struct compiler *c, uint32_t captured)
{
	struct bpf_emitter *e = &c->emitter;
	uint32_t give_up = bpf_emit_new_labels(e, 2), full = give_up + 1;
	uint32_t label_maybe = c->label_maybe;
	bool used_maybe = c->used_maybe;
	unsigned int doubts = c->doubts;

	begprint_in_record(c, full);
	c->label_maybe = give_up;
	c->used_maybe = false;
	c->doubts = 1U << BPF_DOUBT_FULL;
	for (c->command = 0; c->command < c->ncommands; c->command++)
		operations_emit(c, &c->commands[c->command]);
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
