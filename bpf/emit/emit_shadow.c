/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/emit/emit_shadow.h"

#include <stddef.h>

#include "bpf/emit/emit_exits.h"

/* if (r2->field op r) goto label, with r1 */
static void jump_by_shadow(struct compiler *c, size_t field, uint8_t op, uint8_t reg,
			   uint32_t label)
{
	bpf_emit(&c->emitter, bpf_load(BPF_DW, BPF_REG_1, BPF_REG_2, (int16_t)field));
	bpf_emit_jump(&c->emitter, bpf_jump_if(op, BPF_REG_1, reg), label);
}

void shadow_emit_check(struct compiler *c, int32_t size)
{
	struct bpf_emitter *e = &c->emitter;
	uint32_t outside = bpf_emit_new_labels(e, 1 + SHADOW_GAPS);

	bpf_emit_map_value(e, BPF_REG_2, c->options->shared_fd, 0);
	jump_by_shadow(c, offsetof(struct bpf_shared, shadow_end), BPF_JLE, BPF_REG_3,
		       outside);
	bpf_emit(e, bpf_alu(BPF_MOV, BPF_REG_4, BPF_REG_3));
	bpf_emit(e, bpf_alu_imm(BPF_ADD, BPF_REG_4, size));
	jump_by_shadow(c, offsetof(struct bpf_shared, shadow_start), BPF_JGE, BPF_REG_4,
		       outside);
	for (uint32_t i = 0; i < SHADOW_GAPS; i++) {
		size_t gap = offsetof(struct bpf_shared, shadow_gaps) +
			     i * sizeof(struct shadow_range);
		uint32_t not_here = outside + 1 + i;

		jump_by_shadow(c, gap + offsetof(struct shadow_range, start), BPF_JGT,
			       BPF_REG_3, not_here);
		jump_by_shadow(c, gap + offsetof(struct shadow_range, end), BPF_JGE,
			       BPF_REG_4, outside);
		bpf_emit_bind(e, not_here);
	}
	exits_doubt(c, bpf_jump(), BPF_DOUBT_TRAP);
	bpf_emit_bind(e, outside);
}
