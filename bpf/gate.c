/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/gate.h"

#include <stddef.h>

#include "bpf/compiler.h"

void gate_set(struct gate *gate, int64_t count)
{
	__atomic_store_n(&gate->left, count, __ATOMIC_SEQ_CST);
}

int64_t gate_left(const struct gate *gate)
{
	int64_t left = __atomic_load_n(&gate->left, __ATOMIC_SEQ_CST);

	if (left > GATE_MAX)
		return GATE_ENDLESS;
	return left > 0 ? left : 0;
}

bool gate_ignores(struct gate *gate)
{
	if (__atomic_fetch_sub(&gate->left, 1, __ATOMIC_SEQ_CST) <= 0)
		return false;
	__atomic_fetch_add(&gate->ignored, 1, __ATOMIC_SEQ_CST);
	return true;
}

void gate_reset(struct gate *gate)
{
	__atomic_store_n(&gate->ignored, 0, __ATOMIC_SEQ_CST);
}

/* gate_ignores(), as part of a program. */
void gate_emit(struct compiler *c, uint32_t ignored)
{
	struct bpf_emitter *e = &c->emitter;
	const int16_t gate = offsetof(struct bpf_location, gate);
	uint32_t passes = bpf_emit_new_labels(e, 1);

	bpf_emit(e, bpf_alu_imm(BPF_MOV, BPF_REG_1, -1));
	bpf_emit(e, bpf_fetch_add(REG_LOCATION, gate + offsetof(struct gate, left),
				  BPF_REG_1));
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JSLE, BPF_REG_1, 0), passes);
	exits_count(c, offsetof(struct bpf_location, gate.ignored));
	if (c->options->site.watch.len > 0 && watch_is_ahead(c))
		bpf_emit(e,
			 bpf_store_imm(BPF_DW, REG_LOCATION,
				       offsetof(struct bpf_location, last.unsure), 1));
	bpf_emit_jump(e, bpf_jump(), ignored);
	bpf_emit_bind(e, passes);
}
