/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/compiler/emit_match.h"

#include <stddef.h>

#include "bpf/compiler/emit_match_value.h"
#include "bpf/compiler/emit_tid.h"
#include "bpf/emit/emit_counter.h"
#include "bpf/emit/emit_exits.h"
#include "bpf/emit/emit_values.h"

enum { REG_MATCH = BPF_REG_7, REG_MASK = BPF_REG_8 };

static void load_match(struct compiler *c, uint8_t reg)
{
	bpf_emit_map_value(&c->emitter, reg, c->options->shared_fd,
			   offsetof(struct bpf_shared, matches) +
				   c->options->location * sizeof(struct bpf_match));
}

static void load(struct compiler *c, uint8_t size, uint8_t reg, size_t field)
{
	bpf_emit(&c->emitter, bpf_load(size, reg, REG_MATCH, (int16_t)field));
}

static void emit_threads(struct compiler *c, uint32_t mismatch)
{
	struct bpf_emitter *e = &c->emitter;
	const uint32_t any = bpf_emit_new_labels(e, 2), right = any + 1;

	_Static_assert(offsetof(struct bpf_match, not_tid) ==
			       offsetof(struct bpf_match, only_tid) + 4,
		       "both are read at once");
	load(c, BPF_DW, BPF_REG_1, offsetof(struct bpf_match, only_tid));
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JEQ, BPF_REG_1, 0), any);
	tid_emit(c);
	bpf_emit(e, bpf_load(BPF_W, BPF_REG_0, BPF_REG_FP, FRAME_TID));
	load(c, BPF_W, BPF_REG_1, offsetof(struct bpf_match, not_tid));
	bpf_emit_jump(e, bpf_jump_if(BPF_JEQ, BPF_REG_1, BPF_REG_0), mismatch);
	load(c, BPF_W, BPF_REG_1, offsetof(struct bpf_match, only_tid));
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JEQ, BPF_REG_1, 0), right);
	bpf_emit_jump(e, bpf_jump_if(BPF_JNE, BPF_REG_1, BPF_REG_0), mismatch);
	bpf_emit_bind(e, right);
	bpf_emit_bind(e, any);
}

static void emit_register(struct compiler *c, unsigned int number, uint32_t mismatch)
{
	struct bpf_emitter *e = &c->emitter;
	const uint32_t next = bpf_emit_new_labels(e, 1);

	bpf_emit(e, bpf_alu(BPF_MOV, BPF_REG_1, REG_MASK));
	bpf_emit(e, bpf_alu_imm(BPF_RSH, BPF_REG_1, (int32_t)number));
	bpf_emit(e, bpf_alu_imm(BPF_AND, BPF_REG_1, 1));
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JEQ, BPF_REG_1, 0), next);
	values_load_register(c, number, BPF_REG_1);
	load(c, BPF_DW, BPF_REG_2,
	     offsetof(struct bpf_match, value) + number * sizeof(uint64_t));
	bpf_emit_jump(e, bpf_jump_if(BPF_JNE, BPF_REG_1, BPF_REG_2), mismatch);
	bpf_emit_bind(e, next);
}

static void emit_registers(struct compiler *c, uint32_t mismatch)
{
	struct bpf_emitter *e = &c->emitter;
	const uint32_t none = bpf_emit_new_labels(e, 1);

	load(c, BPF_DW, REG_MASK, offsetof(struct bpf_match, registers));
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JEQ, REG_MASK, 0), none);
	/* The general ones come first, and then the PC. */
	for (unsigned int number = 0; number <= c->options->arch->pc_reg; number++)
		emit_register(c, number, mismatch);
	bpf_emit_bind(e, none);
}

static void emit_flags(struct compiler *c, uint32_t mismatch)
{
	struct bpf_emitter *e = &c->emitter;

	bpf_emit(e, bpf_load(BPF_DW, BPF_REG_1, REG_CONTEXT,
			     (int16_t)c->options->arch->bpf_flags_offset));
	load(c, BPF_DW, BPF_REG_2, offsetof(struct bpf_match, flags));
	bpf_emit(e, bpf_alu(BPF_XOR, BPF_REG_1, BPF_REG_2));
	load(c, BPF_DW, BPF_REG_2, offsetof(struct bpf_match, flags_mask));
	bpf_emit(e, bpf_alu(BPF_AND, BPF_REG_1, BPF_REG_2));
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JNE, BPF_REG_1, 0), mismatch);
}

/* Last of all, as it costs most. */
static void emit_counter(struct compiler *c, uint32_t mismatch)
{
	struct bpf_emitter *e = &c->emitter;
	uint32_t any;

	if (!c->options->reads_counter)
		return;
	any = bpf_emit_new_labels(e, 1);
	load(c, BPF_DW, BPF_REG_1, offsetof(struct bpf_match, counts));
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JEQ, BPF_REG_1, 0), any);
	counter_emit_load(c, c->label_maybe);
	c->used_maybe = true;
	c->doubts |= 1U << BPF_DOUBT_COUNTER;
	load(c, BPF_DW, BPF_REG_2, offsetof(struct bpf_match, counter));
	bpf_emit_jump(e, bpf_jump_if(BPF_JNE, BPF_REG_1, BPF_REG_2), mismatch);
	bpf_emit_bind(e, any);
}

void match_emit(struct compiler *c, uint32_t mismatch)
{
	struct bpf_emitter *e = &c->emitter;
	uint32_t armed;

	if (!c->options->matches)
		return;
	armed = bpf_emit_new_labels(e, 1);
	load_match(c, REG_MATCH);
	match_value_emit(c, REG_MATCH);
	load(c, BPF_DW, BPF_REG_1, offsetof(struct bpf_match, armed));
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JSGT, BPF_REG_1, 0), armed);
	exits_return(c, 0);
	bpf_emit_bind(e, armed);
	match_value_emit_changes(c, REG_MATCH, mismatch);
	emit_threads(c, mismatch);
	emit_registers(c, mismatch);
	emit_flags(c, mismatch);
	emit_counter(c, mismatch);
}

void match_emit_disarm(struct compiler *c, uint32_t ignored)
{
	struct bpf_emitter *e = &c->emitter;
	uint32_t told;

	if (!c->options->matches)
		return;
	told = bpf_emit_new_labels(e, 1);
	load_match(c, BPF_REG_2);
	bpf_emit(e, bpf_alu_imm(BPF_MOV, BPF_REG_1, -1));
	bpf_emit(e, bpf_fetch_add(BPF_REG_2, offsetof(struct bpf_match, armed),
				  BPF_REG_1));
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JSGT, BPF_REG_1, 0), told);
	exits_count(c, offsetof(struct bpf_location, gate.ignored));
	bpf_emit_jump(e, bpf_jump(), ignored);
	bpf_emit_bind(e, told);
}
