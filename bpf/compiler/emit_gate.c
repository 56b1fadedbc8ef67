/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/compiler/emit_gate.h"

#include <stddef.h>

#include "bpf/emit/emit_exits.h"
#include "bpf/compiler/emit_watch_ahead.h"
#include "bpf/compiler/emit_watched.h"

/* gate_ignores(), as part of a program. */
void gate_emit(struct compiler *c, uint32_t ignored)
{
	struct bpf_emitter *e = &c->emitter;
	const int16_t gate = offsetof(struct bpf_location, gate);
	uint32_t passes = bpf_emit_new_labels(e, 2), ignores = passes + 1;

	bpf_emit(e, bpf_alu_imm(BPF_MOV, BPF_REG_1, -1));
	bpf_emit(e, bpf_fetch_add(REG_LOCATION, gate + offsetof(struct gate, left),
				  BPF_REG_1));
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JSGT, BPF_REG_1, 0), ignores);
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JEQ, BPF_REG_1, 0), passes);
	bpf_emit(e, bpf_load(BPF_DW, BPF_REG_1, REG_LOCATION,
			     gate + offsetof(struct gate, single)));
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JEQ, BPF_REG_1, 0), passes);
	bpf_emit_bind(e, ignores);
	exits_count(c, offsetof(struct bpf_location, gate.ignored));
	if (c->options->site.watch.len > 0 && watch_is_ahead(c))
		bpf_emit(e,
			 bpf_store_imm(BPF_DW, REG_LOCATION,
				       offsetof(struct bpf_location, last.unsure), 1));
	bpf_emit_jump(e, bpf_jump(), ignored);
	bpf_emit_bind(e, passes);
}
