/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/compiler/emit_watched.h"

#include <stddef.h>

#include "bpf/emit/emit_lock.h"

bool watch_is_ahead(const struct compiler *c)
{
	return c->options->arch->stores != NULL;
}

void watched_emit_read(struct compiler *c, int16_t frame)
{
	struct bpf_emitter *e = &c->emitter;

	bpf_emit(e, bpf_alu(BPF_MOV, BPF_REG_1, BPF_REG_FP));
	bpf_emit(e, bpf_alu_imm(BPF_ADD, BPF_REG_1, frame));
	bpf_emit(e,
		 bpf_alu_imm(BPF_MOV, BPF_REG_2, (int32_t)c->options->site.watch.len));
	bpf_emit_const(e, BPF_REG_3, c->options->site.watch.addr);
	bpf_emit(e, bpf_call(BPF_FUNC_probe_read_user));
}

void watched_emit_lock(struct compiler *c)
{
	bpf_emit_map_value(
		&c->emitter, REG_LAST, c->options->shared_fd,
		(uint32_t)(offsetof(struct bpf_shared, locations) +
			   c->options->location * sizeof(struct bpf_location) +
			   offsetof(struct bpf_location, last)));
	lock_emit_take(c, REG_LAST, offsetof(struct watch_last, lock), BPF_DOUBT_BUSY);
}

void watched_emit_unlock(struct compiler *c)
{
	lock_emit_release(c, REG_LAST, offsetof(struct watch_last, lock));
}
