/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/compiler/emit_sequence.h"

#include <linux/rseq.h>
#include <stddef.h>

#include "bpf/emit/emit_exits.h"
#include "bpf/emit/emit_scratch.h"
#include "bpf/emit/emit_values.h"

/* r3 = the thread's struct rseq, by way of the scratch; to @none if there is none. */
static void emit_load_rseq(struct compiler *c, uint32_t none)
{
	struct bpf_emitter *e = &c->emitter;

	bpf_emit(e, bpf_call(BPF_FUNC_get_current_task));
	bpf_emit(e, bpf_alu(BPF_MOV, BPF_REG_3, BPF_REG_0));
	bpf_emit(e, bpf_alu_imm(BPF_ADD, BPF_REG_3, c->options->task_rseq_offset));
	scratch_emit_read(e, BPF_FUNC_probe_read_kernel, 8);
	bpf_emit(e, bpf_load(BPF_DW, BPF_REG_3, BPF_REG_FP, FRAME_SCRATCH));
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JEQ, BPF_REG_3, 0), none);
}

/* scratch = 8 bytes of memory at reg + offset, or to the maybe exit. */
static void emit_read(struct compiler *c, uint8_t reg, size_t offset)
{
	struct bpf_emitter *e = &c->emitter;

	if (reg != BPF_REG_3)
		bpf_emit(e, bpf_alu(BPF_MOV, BPF_REG_3, reg));
	bpf_emit(e, bpf_alu_imm(BPF_ADD, BPF_REG_3, (int32_t)offset));
	scratch_emit_read(e, BPF_FUNC_probe_read_user, 8);
	exits_doubt(c, bpf_jump_if_imm(BPF_JNE, BPF_REG_0, 0), BPF_DOUBT_SEQUENCE);
}

void sequence_emit_check(struct compiler *c)
{
	enum { DESCRIPTION = BPF_REG_7, OFFSET = BPF_REG_8 };
	struct bpf_emitter *e = &c->emitter;
	uint32_t none;

	if (c->options->task_rseq_offset < 0)
		return;
	none = bpf_emit_new_labels(e, 1);
	emit_load_rseq(c, none);
	emit_read(c, BPF_REG_3, offsetof(struct rseq, rseq_cs));
	bpf_emit(e, bpf_load(BPF_DW, DESCRIPTION, BPF_REG_FP, FRAME_SCRATCH));
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JEQ, DESCRIPTION, 0), none);
	emit_read(c, DESCRIPTION, offsetof(struct rseq_cs, start_ip));
	bpf_emit(e, bpf_load(BPF_DW, BPF_REG_1, BPF_REG_FP, FRAME_SCRATCH));
	values_load_pc(c, OFFSET);
	bpf_emit(e, bpf_alu(BPF_SUB, OFFSET, BPF_REG_1));
	emit_read(c, DESCRIPTION, offsetof(struct rseq_cs, post_commit_offset));
	bpf_emit(e, bpf_load(BPF_DW, BPF_REG_1, BPF_REG_FP, FRAME_SCRATCH));
	exits_doubt(c, bpf_jump_if(BPF_JGT, BPF_REG_1, OFFSET), BPF_DOUBT_SEQUENCE);
	bpf_emit_bind(e, none);
}

enum {
	FRAME_RSEQ = FRAME_RECORD + (int)offsetof(struct bpf_hit_record, rseq),
	FRAME_SEQUENCE = FRAME_RECORD + (int)offsetof(struct bpf_hit_record, sequence),
};

_Static_assert((int)FRAME_SEQUENCE == (int)FRAME_SCRATCH,
	       "what is read to the scratch is the record's");

/* A failed read leaves zeros. */
void sequence_emit_record(struct compiler *c)
{
	struct bpf_emitter *e = &c->emitter;
	uint32_t none;

	bpf_emit(e, bpf_store_imm(BPF_DW, BPF_REG_FP, FRAME_RSEQ, 0));
	bpf_emit(e, bpf_store_imm(BPF_DW, BPF_REG_FP, FRAME_SEQUENCE, 0));
	if (c->options->task_rseq_offset < 0)
		return;
	none = bpf_emit_new_labels(e, 1);
	emit_load_rseq(c, none);
	bpf_emit(e, bpf_store(BPF_DW, BPF_REG_FP, FRAME_RSEQ, BPF_REG_3));
	bpf_emit(e, bpf_alu_imm(BPF_ADD, BPF_REG_3, offsetof(struct rseq, rseq_cs)));
	scratch_emit_read(e, BPF_FUNC_probe_read_user, 8);
	bpf_emit_bind(e, none);
}
