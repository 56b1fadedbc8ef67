/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which location a program runs at: the one that it was made for, or, of those that
 * serve many, the one that the link's cookie tells. The kernel keeps the cookie for
 * each thread and hit (current->bpf_ctx), whatever comes in between.
 */
#include "bpf/emit/emit_where.h"

#include "bpf/emit/emit_exits.h"

_Static_assert((int)BPF_LOCATION_MASK >= (int)BPF_LOCATIONS_MAX - 1 &&
		       sizeof(struct bpf_location) * (BPF_LOCATION_MASK + 1) <=
			       sizeof(struct bpf_shared) -
				       offsetof(struct bpf_shared, locations),
	       "whatever the cookie is, the verifier sees that it stays in the map");

void where_emit_index(struct compiler *c, uint8_t reg)
{
	struct bpf_emitter *e = &c->emitter;

	if (!bpf_is_told(c->options->site.kind)) {
		bpf_emit(e, bpf_alu_imm(BPF_MOV, reg, (int32_t)c->options->location));
		return;
	}
	bpf_emit(e, bpf_alu(BPF_MOV, BPF_REG_1, REG_CONTEXT));
	bpf_emit(e, bpf_call(BPF_FUNC_get_attach_cookie));
	bpf_emit(e, bpf_alu_imm(BPF_AND, BPF_REG_0, BPF_LOCATION_MASK));
	if (reg != BPF_REG_0)
		bpf_emit(e, bpf_alu(BPF_MOV, reg, BPF_REG_0));
}

void where_emit(struct compiler *c)
{
	const uint32_t locations = offsetof(struct bpf_shared, locations);
	struct bpf_emitter *e = &c->emitter;

	if (!bpf_is_told(c->options->site.kind)) {
		bpf_emit_map_value(e, REG_LOCATION, c->options->shared_fd,
				   locations + c->options->location *
						       sizeof(struct bpf_location));
		return;
	}
	where_emit_index(c, BPF_REG_0);
	bpf_emit(e, bpf_alu_imm(BPF_MUL, BPF_REG_0, sizeof(struct bpf_location)));
	bpf_emit_map_value(e, REG_LOCATION, c->options->shared_fd, locations);
	bpf_emit(e, bpf_alu(BPF_ADD, REG_LOCATION, BPF_REG_0));
}

void where_emit_suspended(struct compiler *c)
{
	struct bpf_emitter *e = &c->emitter;
	uint32_t goes_on;

	if (c->options->site.kind != BPF_KIND_EVENT)
		return;
	goes_on = bpf_emit_new_labels(e, 1);
	where_emit(c);
	bpf_emit(e, bpf_load(BPF_DW, BPF_REG_1, REG_LOCATION,
			     offsetof(struct bpf_location, suspended)));
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JEQ, BPF_REG_1, 0), goes_on);
	exits_count(c, offsetof(struct bpf_location, dropped));
	exits_return(c, 0);
	bpf_emit_bind(e, goes_on);
}
