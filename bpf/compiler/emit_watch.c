/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/compiler/emit_watch.h"

#include <stddef.h>

#include "bpf/emit/emit_exits.h"
#include "bpf/emit/emit_kernel_mode.h"
#include "bpf/compiler/emit_watch_ahead.h"
#include "bpf/compiler/emit_watched.h"

enum {
	REG_FAILED = BPF_REG_8,	 /* the bytes could not be read */
	REG_CHANGED = BPF_REG_9, /* not 0: they have changed */
	FRAME_OLD = FRAME_VALUES + (int)offsetof(struct watch_values, old),
	FRAME_NEW = FRAME_VALUES + (int)offsetof(struct watch_values, new),
	FRAME_LEN = FRAME_VALUES + (int)offsetof(struct watch_values, len),
};

void watch_emit_clear(struct compiler *c)
{
	for (int i = 0; i < (int)sizeof(struct watch_values); i += 8)
		bpf_emit(&c->emitter, bpf_store_imm(BPF_DW, BPF_REG_FP,
						    (int16_t)(FRAME_VALUES + i), 0));
}

static void emit_exchange(struct compiler *c)
{
	struct bpf_emitter *e = &c->emitter;
	const int16_t unsure = offsetof(struct watch_last, unsure);
	const int16_t bytes = offsetof(struct watch_last, bytes);

	bpf_emit(e, bpf_load(BPF_DW, REG_CHANGED, REG_LAST, unsure));
	bpf_emit(e, bpf_store_imm(BPF_DW, REG_LAST, unsure, 0));
	for (int16_t i = 0; i < (int16_t)c->options->site.watch.len; i += 8) {
		bpf_emit(e, bpf_load(BPF_DW, BPF_REG_1, BPF_REG_FP, FRAME_NEW + i));
		bpf_emit(e, bpf_load(BPF_DW, BPF_REG_2, REG_LAST, bytes + i));
		bpf_emit(e, bpf_store(BPF_DW, BPF_REG_FP, FRAME_OLD + i, BPF_REG_2));
		bpf_emit(e, bpf_store(BPF_DW, REG_LAST, bytes + i, BPF_REG_1));
		bpf_emit(e, bpf_alu(BPF_XOR, BPF_REG_1, BPF_REG_2));
		bpf_emit(e, bpf_alu(BPF_OR, REG_CHANGED, BPF_REG_1));
	}
}

static void emit_after(struct compiler *c, uint32_t unchanged)
{
	struct bpf_emitter *e = &c->emitter;
	uint32_t done = bpf_emit_new_labels(e, 1);

	watched_emit_lock(c);
	watched_emit_read(c, FRAME_NEW);
	bpf_emit(e, bpf_alu(BPF_MOV, REG_FAILED, BPF_REG_0));
	bpf_emit(e, bpf_alu_imm(BPF_MOV, REG_CHANGED, 0));
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JNE, REG_FAILED, 0), done);
	emit_exchange(c);
	bpf_emit_bind(e, done);
	watched_emit_unlock(c);
	exits_doubt(c, bpf_jump_if_imm(BPF_JNE, REG_FAILED, 0), BPF_DOUBT_PAGE);
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JEQ, REG_CHANGED, 0), unchanged);
	bpf_emit(e, bpf_store_imm(BPF_DW, BPF_REG_FP, FRAME_LEN,
				  (int32_t)c->options->site.watch.len));
	kernel_mode_check_user(c, BPF_REG_0);
}

void watch_emit(struct compiler *c, uint32_t unchanged)
{
	if (watch_is_ahead(c))
		watch_ahead_emit(c, unchanged);
	else
		emit_after(c, unchanged);
}

bool watch_has(const struct compiler *c, struct ir_operand addr, int32_t size,
	       int16_t *frame)
{
	const struct bpf_watch *watch = &c->options->site.watch;
	uint64_t offset = addr.value - watch->addr;

	/* BPF's stack is read in aligned pieces only. */
	if ((watch_is_ahead(c) && !watch->stub_decides) || addr.kind != IR_CONST ||
	    offset >= watch->len || watch->len - offset < (uint64_t)size ||
	    offset % (uint64_t)size != 0)
		return false;
	*frame = (int16_t)(FRAME_NEW + (int)offset);
	return true;
}
