/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/emit/emit_counter.h"

#include <stddef.h>

/* Below the record: where slots are, of which none is in use. */
enum {
	FRAME_READ = FRAME_RECORD - (int)sizeof(struct bpf_perf_event_value),
	FRAME_KNOWN = FRAME_RECORD + (int)offsetof(struct bpf_hit_record, has_counter),
	FRAME_VALUE = FRAME_RECORD + (int)offsetof(struct bpf_hit_record, counter),
};

#define READ(field)                                                                    \
	((int16_t)(FRAME_READ + (int)offsetof(struct bpf_perf_event_value, field)))

void counter_emit_load(struct compiler *c, uint32_t unknown)
{
	struct bpf_emitter *e = &c->emitter;

	bpf_emit_map(e, BPF_REG_1, c->options->counter_fd);
	bpf_emit(e, bpf_alu_imm(BPF_MOV, BPF_REG_2, 0)); /* its only entry */
	bpf_emit(e, bpf_alu(BPF_MOV, BPF_REG_3, BPF_REG_FP));
	bpf_emit(e, bpf_alu_imm(BPF_ADD, BPF_REG_3, FRAME_READ));
	bpf_emit(e,
		 bpf_alu_imm(BPF_MOV, BPF_REG_4, sizeof(struct bpf_perf_event_value)));
	bpf_emit(e, bpf_call(BPF_FUNC_READ_COUNTER));
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JNE, BPF_REG_0, 0), unknown);
	/* One that had to share the processor's counters with others has missed some.
	 */
	bpf_emit(e, bpf_load(BPF_DW, BPF_REG_1, BPF_REG_FP, READ(enabled)));
	bpf_emit(e, bpf_load(BPF_DW, BPF_REG_2, BPF_REG_FP, READ(running)));
	bpf_emit_jump(e, bpf_jump_if(BPF_JNE, BPF_REG_1, BPF_REG_2), unknown);
	bpf_emit(e, bpf_load(BPF_DW, BPF_REG_1, BPF_REG_FP, READ(counter)));
}

void counter_emit_record(struct compiler *c)
{
	struct bpf_emitter *e = &c->emitter;
	const uint32_t unknown = bpf_emit_new_labels(e, 1);

	bpf_emit(e, bpf_store_imm(BPF_DW, BPF_REG_FP, FRAME_KNOWN, 0));
	bpf_emit(e, bpf_store_imm(BPF_DW, BPF_REG_FP, FRAME_VALUE, 0));
	counter_emit_load(c, unknown);
	bpf_emit(e, bpf_store_imm(BPF_DW, BPF_REG_FP, FRAME_KNOWN, 1));
	bpf_emit(e, bpf_store(BPF_DW, BPF_REG_FP, FRAME_VALUE, BPF_REG_1));
	bpf_emit_bind(e, unknown);
}
