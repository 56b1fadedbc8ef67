/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/compiler/emit_match_value.h"

#include <stddef.h>

#include "bpf/compiler/emit_watch.h"
#include "bpf/emit/emit_lock.h"

enum {
	REG_UNSURE = BPF_REG_8,
	FRAME_OLD = FRAME_VALUES + (int)offsetof(struct watch_values, old),
	FRAME_NEW = FRAME_VALUES + (int)offsetof(struct watch_values, new),
	FRAME_LEN = FRAME_VALUES + (int)offsetof(struct watch_values, len),
};

#define SEEN(field)                                                                    \
	((int16_t)(offsetof(struct bpf_match, seen) +                                  \
		   offsetof(struct match_value, field)))

/* seen.unsure = MATCH_UNSURE, as a full barrier: who has the lock just now, and makes
 * it sure later than this, reads later, too. */
static void emit_unsure(struct compiler *c, uint8_t match)
{
	struct bpf_emitter *e = &c->emitter;

	bpf_emit(e, bpf_alu_imm(BPF_MOV, BPF_REG_1, MATCH_UNSURE));
	bpf_emit(e, bpf_exchange(match, SEEN(unsure), BPF_REG_1));
}

/* To the label if the lock cannot be had; no verdict comes of that. */
static void emit_lock(struct compiler *c, uint8_t match, uint32_t busy)
{
	const uint32_t label_maybe = c->label_maybe;
	const unsigned int doubts = c->doubts;
	const bool used_maybe = c->used_maybe;

	c->label_maybe = busy;
	lock_emit_take(c, match, SEEN(lock), BPF_DOUBT_BUSY);
	c->label_maybe = label_maybe;
	c->doubts = doubts;
	c->used_maybe = used_maybe;
}

/* The bytes, in the frame; to the label if they cannot be read. */
static void emit_read(struct compiler *c, uint8_t match, uint32_t unread)
{
	struct bpf_emitter *e = &c->emitter;

	bpf_emit(e, bpf_load(BPF_DW, BPF_REG_2, match, SEEN(len)));
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JGT, BPF_REG_2, MATCH_VALUE_BYTES),
		      unread);
	bpf_emit(e, bpf_alu(BPF_MOV, BPF_REG_1, BPF_REG_FP));
	bpf_emit(e, bpf_alu_imm(BPF_ADD, BPF_REG_1, FRAME_NEW));
	bpf_emit(e, bpf_load(BPF_DW, BPF_REG_3, match, SEEN(addr)));
	bpf_emit(e, bpf_call(BPF_FUNC_probe_read_user));
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JNE, BPF_REG_0, 0), unread);
}

static void emit_exchange(struct compiler *c, uint8_t match)
{
	struct bpf_emitter *e = &c->emitter;
	const uint32_t unsure = bpf_emit_new_labels(e, 1);

	bpf_emit(e, bpf_load(BPF_DW, BPF_REG_1, BPF_REG_FP, FRAME_NEW));
	bpf_emit(e, bpf_load(BPF_DW, BPF_REG_2, match, SEEN(last)));
	bpf_emit(e, bpf_store(BPF_DW, match, SEEN(last), BPF_REG_1));
	bpf_emit(e, bpf_load(BPF_DW, BPF_REG_1, match, SEEN(len)));
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JNE, REG_UNSURE, MATCH_SURE), unsure);
	bpf_emit(e, bpf_store(BPF_DW, BPF_REG_FP, FRAME_OLD, BPF_REG_2));
	bpf_emit(e, bpf_alu_imm(BPF_OR, BPF_REG_1, MATCH_HAS_OLD));
	bpf_emit_bind(e, unsure);
	bpf_emit(e, bpf_store(BPF_DW, BPF_REG_FP, FRAME_LEN, BPF_REG_1));
}

void match_value_emit(struct compiler *c, uint8_t match)
{
	struct bpf_emitter *e = &c->emitter;
	uint32_t busy, unread, done;

	if (!c->options->keeps_values)
		return;
	busy = bpf_emit_new_labels(e, 3);
	unread = busy + 1;
	done = busy + 2;
	watch_emit_clear(c);
	bpf_emit(e, bpf_load(BPF_DW, BPF_REG_1, match, SEEN(len)));
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JEQ, BPF_REG_1, 0), done);
	emit_lock(c, match, busy);
	bpf_emit(e, bpf_alu_imm(BPF_MOV, REG_UNSURE, MATCH_SURE));
	bpf_emit(e, bpf_exchange(match, SEEN(unsure), REG_UNSURE));
	emit_read(c, match, unread);
	emit_exchange(c, match);
	lock_emit_release(c, match, SEEN(lock));
	bpf_emit_jump(e, bpf_jump(), done);
	bpf_emit_bind(e, unread);
	emit_unsure(c, match);
	lock_emit_release(c, match, SEEN(lock));
	bpf_emit_jump(e, bpf_jump(), done);
	bpf_emit_bind(e, busy);
	emit_unsure(c, match);
	bpf_emit_bind(e, done);
}

void match_value_emit_changes(struct compiler *c, uint8_t match, uint32_t mismatch)
{
	struct bpf_emitter *e = &c->emitter;
	uint32_t any;

	if (!c->options->keeps_values)
		return;
	any = bpf_emit_new_labels(e, 1);
	bpf_emit(e, bpf_load(BPF_DW, BPF_REG_1, match, SEEN(changes)));
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JEQ, BPF_REG_1, 0), any);
	bpf_emit(e, bpf_load(BPF_DW, BPF_REG_1, match, SEEN(len)));
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JEQ, BPF_REG_1, 0), any);
	bpf_emit(e, bpf_load(BPF_DW, BPF_REG_1, BPF_REG_FP, FRAME_LEN));
	/* That needs no doubt: who asks for changes knows. */
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JLT, BPF_REG_1, MATCH_HAS_OLD),
		      c->label_maybe);
	c->used_maybe = true;
	bpf_emit(e, bpf_load(BPF_DW, BPF_REG_1, BPF_REG_FP, FRAME_OLD));
	bpf_emit(e, bpf_load(BPF_DW, BPF_REG_2, BPF_REG_FP, FRAME_NEW));
	bpf_emit_jump(e, bpf_jump_if(BPF_JEQ, BPF_REG_1, BPF_REG_2), mismatch);
	bpf_emit_bind(e, any);
}
