/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/emit/emit_exits.h"

void exits_return(struct compiler *c, int32_t value)
{
	bpf_emit(&c->emitter, bpf_alu_imm(BPF_MOV, BPF_REG_0, value));
	bpf_emit(&c->emitter, bpf_exit());
}

void exits_doubt(struct compiler *c, struct bpf_insn jump, enum bpf_doubt doubt)
{
	bpf_emit_jump(&c->emitter, jump, c->label_maybe);
	c->used_maybe = true;
	c->doubts |= 1U << doubt;
}

void exits_count(struct compiler *c, size_t field)
{
	bpf_emit(&c->emitter, bpf_alu_imm(BPF_MOV, BPF_REG_1, 1));
	bpf_emit(&c->emitter, bpf_atomic_add(REG_LOCATION, (int16_t)field, BPF_REG_1));
}
