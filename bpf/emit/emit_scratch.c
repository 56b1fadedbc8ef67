/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/emit/emit_scratch.h"

void scratch_emit_read(struct bpf_emitter *e, int32_t helper, int32_t size)
{
	bpf_emit(e, bpf_alu(BPF_MOV, BPF_REG_1, BPF_REG_FP));
	bpf_emit(e, bpf_alu_imm(BPF_ADD, BPF_REG_1, FRAME_SCRATCH));
	bpf_emit(e, bpf_alu_imm(BPF_MOV, BPF_REG_2, size));
	bpf_emit(e, bpf_call(helper));
}
