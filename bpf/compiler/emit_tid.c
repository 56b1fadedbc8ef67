/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/compiler/emit_tid.h"

#include <stddef.h>

#include "bpf/emit/emit_exits.h"
#include "bpf/emit/emit_values.h"

/* bpf_get_ns_current_pid_tgid writes struct bpf_pidns_info, the tid first. */
_Static_assert(offsetof(struct bpf_hit_record, tid) == 0 &&
		       offsetof(struct bpf_hit_record, location) ==
			       offsetof(struct bpf_pidns_info, tgid),
	       "tid and the field after it take a struct bpf_pidns_info");

/* Into the eight bytes of the frame at @at. */
static void emit_into(struct compiler *c, int16_t at)
{
	struct bpf_emitter *e = &c->emitter;

	if (c->options->pid_ns_inode == 0) {
		bpf_emit(e, bpf_call(BPF_FUNC_get_current_pid_tgid));
		bpf_emit(e, bpf_store(BPF_W, BPF_REG_FP, at, BPF_REG_0));
		return;
	}
	bpf_emit_const(e, BPF_REG_1, c->options->pid_ns_device);
	bpf_emit_const(e, BPF_REG_2, c->options->pid_ns_inode);
	bpf_emit(e, bpf_alu(BPF_MOV, BPF_REG_3, BPF_REG_FP));
	bpf_emit(e, bpf_alu_imm(BPF_ADD, BPF_REG_3, at));
	bpf_emit(e, bpf_alu_imm(BPF_MOV, BPF_REG_4, sizeof(struct bpf_pidns_info)));
	bpf_emit(e, bpf_call(BPF_FUNC_get_ns_current_pid_tgid));
}

void tid_emit(struct compiler *c)
{
	emit_into(c, FRAME_TID);
}

void tid_emit_use(struct compiler *c, const struct ir_insn *insn)
{
	const uint8_t reg = values_result_reg(insn->slot, ir_constant(0));

	emit_into(c, FRAME_SCRATCH);
	bpf_emit(&c->emitter, bpf_load(BPF_W, reg, BPF_REG_FP, FRAME_SCRATCH));
	exits_doubt(c, bpf_jump_if_imm(BPF_JEQ, reg, 0), BPF_DOUBT_THREAD);
	values_store_slot(c, insn->slot, reg);
}
