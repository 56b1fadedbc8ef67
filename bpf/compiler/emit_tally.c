/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/compiler/emit_tally.h"

#include <stddef.h>

#include "bpf/emit/emit_where.h"

/* Goes to @found if r2's entry is that of the key r4, or nobody's so far. To look
 * costs nothing, the exchange 7 ns. */
static void emit_claim(struct compiler *c, uint32_t found)
{
	struct bpf_emitter *e = &c->emitter;
	uint32_t taken = bpf_emit_new_labels(e, 1);

	bpf_emit(e, bpf_load(BPF_DW, BPF_REG_0, BPF_REG_2,
			     offsetof(struct bpf_tally, key)));
	bpf_emit_jump(e, bpf_jump_if(BPF_JEQ, BPF_REG_0, BPF_REG_4), found);
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JNE, BPF_REG_0, 0), taken);
	bpf_emit(e, bpf_store_imm(BPF_DW, REG_LOCATION,
				  offsetof(struct bpf_location, has_entries), 1));
	bpf_emit(e, bpf_compare_exchange(BPF_REG_2, offsetof(struct bpf_tally, key),
					 BPF_REG_4));
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JEQ, BPF_REG_0, 0), found);
	bpf_emit_bind(e, taken);
}

/* r4 = the key of an index that is told, with tid 0, r0 = where its buckets begin. */
static void emit_told(struct compiler *c)
{
	struct bpf_emitter *e = &c->emitter;

	where_emit_index(c, BPF_REG_0);
	bpf_emit(e, bpf_alu(BPF_MOV, BPF_REG_4, BPF_REG_0));
	bpf_emit(e, bpf_alu_imm(BPF_ADD, BPF_REG_4, 1));
	bpf_emit(e, bpf_alu_imm(BPF_LSH, BPF_REG_4, 32));
	bpf_emit(e, bpf_alu_imm(BPF_MUL, BPF_REG_0, TALLY_SPREAD));
}

/* r4 = the thread's key, r1 = its bucket. */
static void emit_key(struct compiler *c)
{
	const uint32_t location = c->options->location;
	const bool told = bpf_is_told(c->options->site.kind);
	struct bpf_emitter *e = &c->emitter;

	if (told)
		emit_told(c);
	else
		bpf_emit_const(e, BPF_REG_4, tally_key(location, 0));
	bpf_emit(e, bpf_load(BPF_W, BPF_REG_1, BPF_REG_FP, FRAME_TID));
	bpf_emit(e, bpf_alu(BPF_OR, BPF_REG_4, BPF_REG_1));
	if (told)
		bpf_emit(e, bpf_alu(BPF_ADD, BPF_REG_1, BPF_REG_0));
	else
		bpf_emit(e, bpf_alu_imm(BPF_ADD, BPF_REG_1,
					(int32_t)tally_bucket(location)));
	bpf_emit(e, bpf_alu_imm(BPF_AND, BPF_REG_1, BPF_TALLY_BUCKETS - 1));
}

static void emit_others(struct compiler *c)
{
	struct bpf_emitter *e = &c->emitter;

	bpf_emit(e, bpf_alu(BPF_MOV, BPF_REG_2, REG_LOCATION));
	bpf_emit(e, bpf_alu_imm(BPF_ADD, BPF_REG_2,
				offsetof(struct bpf_location, others)));
}

/* r2 = the thread's entry, or the one for others if all places are taken. */
static void emit_find(struct compiler *c)
{
	struct bpf_emitter *e = &c->emitter;
	const uint32_t try = bpf_emit_new_labels(e, 2), found = try + 1;

	if (c->options->matches) {
		emit_others(c);
		bpf_emit_bind(e, found);
		return;
	}
	emit_key(c);
	bpf_emit(e, bpf_alu_imm(BPF_MUL, BPF_REG_1,
				BPF_TALLY_PLACES * sizeof(struct bpf_tally)));
	bpf_emit_map_value(e, BPF_REG_2, c->options->shared_fd,
			   offsetof(struct bpf_shared, tallies));
	bpf_emit(e, bpf_alu(BPF_ADD, BPF_REG_2, BPF_REG_1));
	bpf_emit(e, bpf_alu_imm(BPF_MOV, BPF_REG_5, BPF_TALLY_PLACES));
	bpf_emit_bind(e, try);
	emit_claim(c, found);
	bpf_emit(e, bpf_alu_imm(BPF_ADD, BPF_REG_2, sizeof(struct bpf_tally)));
	bpf_emit(e, bpf_alu_imm(BPF_SUB, BPF_REG_5, 1));
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JNE, BPF_REG_5, 0), try);
	emit_others(c);
	bpf_emit_bind(e, found);
}

/* r2's hits by REG_VERDICT += amount; r2 is used up. */
static void emit_add(struct compiler *c, int32_t amount)
{
	struct bpf_emitter *e = &c->emitter;

	bpf_emit(e, bpf_alu(BPF_MOV, BPF_REG_1, REG_VERDICT));
	bpf_emit(e, bpf_alu_imm(BPF_MUL, BPF_REG_1, sizeof(uint64_t)));
	bpf_emit(e, bpf_alu(BPF_ADD, BPF_REG_2, BPF_REG_1));
	bpf_emit(e, bpf_alu_imm(BPF_MOV, BPF_REG_1, amount));
	bpf_emit(e, bpf_atomic_add(BPF_REG_2, offsetof(struct bpf_tally, hits),
				   BPF_REG_1));
}

void tally_emit(struct compiler *c)
{
	emit_find(c);
	emit_add(c, 1);
}

void tally_emit_maybe(struct compiler *c)
{
	struct bpf_emitter *e = &c->emitter;

	emit_find(c);
	bpf_emit(e, bpf_alu_imm(BPF_MOV, BPF_REG_1, 1));
	bpf_emit(e, bpf_atomic_add(BPF_REG_2,
				   offsetof(struct bpf_tally, hits.by[BPF_MAYBE]),
				   BPF_REG_1));
	emit_add(c, -1);
}
