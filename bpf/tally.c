/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/tally.h"

#include <stddef.h>

#include "bpf/compiler.h"

/*
 * Where a thread's entry is: in one bucket, at the first place that is the thread's
 * own or free. Threads that a program starts one after the other have tids in a row,
 * hence buckets of their own; the factor keeps the rows of the locations apart.
 */
enum { SPREAD = 2531 }; /* of 4096 buckets the golden ratio's part */

static uint32_t first_bucket(unsigned int location)
{
	return location * SPREAD % BPF_TALLY_BUCKETS;
}

/* No entry has the key 0. */
static uint64_t key_of(unsigned int location, uint32_t tid)
{
	return (uint64_t)(location + 1) << 32 | tid;
}

/* ---- the program's part ---- */

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
	bpf_emit(e, bpf_alu_imm(BPF_MUL, BPF_REG_0, SPREAD));
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
		bpf_emit_const(e, BPF_REG_4, key_of(location, 0));
	bpf_emit(e, bpf_load(BPF_W, BPF_REG_1, BPF_REG_FP, FRAME_TID));
	bpf_emit(e, bpf_alu(BPF_OR, BPF_REG_4, BPF_REG_1));
	if (told)
		bpf_emit(e, bpf_alu(BPF_ADD, BPF_REG_1, BPF_REG_0));
	else
		bpf_emit(e, bpf_alu_imm(BPF_ADD, BPF_REG_1,
					(int32_t)first_bucket(location)));
	bpf_emit(e, bpf_alu_imm(BPF_AND, BPF_REG_1, BPF_TALLY_BUCKETS - 1));
}

/* r2 = the thread's entry, or the one for others if all places are taken. */
static void emit_find(struct compiler *c)
{
	struct bpf_emitter *e = &c->emitter;
	uint32_t try = bpf_emit_new_labels(e, 2), found = try + 1;

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
	bpf_emit(e, bpf_alu(BPF_MOV, BPF_REG_2, REG_LOCATION));
	bpf_emit(e, bpf_alu_imm(BPF_ADD, BPF_REG_2,
				offsetof(struct bpf_location, others)));
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

/* ---- the stub's part ---- */

static void add(struct tally_hits *to, const struct tally_hits *hits)
{
	for (int i = 0; i < 3; i++)
		__atomic_fetch_add(&to->by[i], hits->by[i], __ATOMIC_SEQ_CST);
}

static struct tally_hits load(const struct tally_hits *from)
{
	struct tally_hits hits;

	for (int i = 0; i < 3; i++)
		hits.by[i] = __atomic_load_n(&from->by[i], __ATOMIC_SEQ_CST);
	return hits;
}

static struct tally_hits take(struct tally_hits *from)
{
	struct tally_hits hits;

	for (int i = 0; i < 3; i++)
		hits.by[i] = __atomic_exchange_n(&from->by[i], 0, __ATOMIC_SEQ_CST);
	return hits;
}

/* The next entry of the location from *place on, or NULL. */
static struct bpf_tally *next_entry(struct bpf_shared *shared, unsigned int location,
				    size_t *place)
{
	while (*place < BPF_TALLIES) {
		struct bpf_tally *tally = &shared->tallies[(*place)++];

		if (__atomic_load_n(&tally->key, __ATOMIC_SEQ_CST) >> 32 ==
		    location + 1)
			return tally;
	}
	return NULL;
}

void tally_each(struct bpf_shared *shared, unsigned int location, tally_fn *fn,
		void *data)
{
	struct tally_hits hits = load(&shared->locations[location].others.hits);
	struct bpf_tally *tally;
	size_t place = 0;

	fn(data, 0, &hits);
	while ((tally = next_entry(shared, location, &place))) {
		hits = load(&tally->hits);
		fn(data, (uint32_t)tally->key, &hits);
	}
}

void tally_take(struct bpf_shared *shared, unsigned int location, tally_fn *fn,
		void *data)
{
	struct tally_hits hits = take(&shared->locations[location].others.hits);
	struct bpf_tally *tally;
	size_t place = 0;

	fn(data, 0, &hits);
	while ((tally = next_entry(shared, location, &place))) {
		hits = take(&tally->hits);
		fn(data, (uint32_t)tally->key, &hits);
	}
}

static void add_up(void *data, uint32_t tid, const struct tally_hits *hits)
{
	(void)tid;
	add(data, hits);
}

struct tally_hits tally_total(struct bpf_shared *shared, unsigned int location)
{
	struct tally_hits total = {0};

	tally_each(shared, location, add_up, &total);
	return total;
}

/* Nobody counts there: the thread has ended, or is stopped. */
static void give_up(struct bpf_shared *shared, struct bpf_tally *tally)
{
	uint64_t location = (tally->key >> 32) - 1;
	struct tally_hits hits = take(&tally->hits);

	add(&shared->locations[location].others.hits, &hits);
	__atomic_store_n(&tally->key, 0, __ATOMIC_SEQ_CST);
}

static struct bpf_tally *bucket_of(struct bpf_shared *shared, unsigned int location,
				   uint32_t tid)
{
	uint32_t bucket = (first_bucket(location) + tid) % BPF_TALLY_BUCKETS;

	return &shared->tallies[bucket * BPF_TALLY_PLACES];
}

void tally_retire(struct bpf_shared *shared, unsigned int location, uint32_t tid)
{
	struct bpf_tally *tallies = bucket_of(shared, location, tid);

	for (int i = 0; i < BPF_TALLY_PLACES; i++)
		if (tallies[i].key == key_of(location, tid))
			give_up(shared, &tallies[i]);
}

void tally_make_room(struct bpf_shared *shared, unsigned int location, uint32_t tid,
		     bool (*ended)(uint32_t tid))
{
	struct bpf_tally *tallies = bucket_of(shared, location, tid);

	for (int i = 0; i < BPF_TALLY_PLACES; i++)
		if (tallies[i].key == 0)
			return;
	for (int i = 0; i < BPF_TALLY_PLACES; i++)
		if (ended((uint32_t)tallies[i].key))
			give_up(shared, &tallies[i]);
}

void tally_clear(struct bpf_shared *shared, unsigned int location)
{
	struct bpf_tally *tally;
	size_t place = 0;

	shared->locations[location].others = (struct bpf_tally){0};
	while ((tally = next_entry(shared, location, &place))) {
		tally->hits = (struct tally_hits){0};
		/* From here on it may be another's. */
		__atomic_store_n(&tally->key, 0, __ATOMIC_SEQ_CST);
	}
}
