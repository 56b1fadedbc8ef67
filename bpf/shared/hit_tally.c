/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/shared/hit_tally.h"

#include <stddef.h>

#include "bpf/shared/hits.h"

uint32_t tally_bucket(unsigned int location)
{
	return location * TALLY_SPREAD % BPF_TALLY_BUCKETS;
}

/* No entry has the key 0. */
uint64_t tally_key(unsigned int location, uint32_t tid)
{
	return (uint64_t)(location + 1) << 32 | tid;
}

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

/* The next entry of the location from *place on, or NULL. A megabyte is looked through,
 * which would be most of what it costs to make a breakpoint that is never hit. */
static struct bpf_tally *next_entry(struct bpf_shared *shared, unsigned int location,
				    size_t *place)
{
	if (!__atomic_load_n(&shared->locations[location].has_entries,
			     __ATOMIC_SEQ_CST))
		return NULL;
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

void tally_false_hits(struct bpf_shared *shared, uint64_t *by_location)
{
	for (unsigned int i = 0; i < BPF_LOCATIONS_MAX; i++)
		by_location[i] += load(&shared->locations[i].others.hits).by[BPF_FALSE];
	for (size_t i = 0; i < BPF_TALLIES; i++) {
		struct bpf_tally *tally = &shared->tallies[i];
		uint64_t location =
			__atomic_load_n(&tally->key, __ATOMIC_SEQ_CST) >> 32;

		if (location > 0 && location <= BPF_LOCATIONS_MAX)
			by_location[location - 1] += load(&tally->hits).by[BPF_FALSE];
	}
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
	uint32_t bucket = (tally_bucket(location) + tid) % BPF_TALLY_BUCKETS;

	return &shared->tallies[bucket * BPF_TALLY_PLACES];
}

void tally_retire(struct bpf_shared *shared, unsigned int location, uint32_t tid)
{
	struct bpf_tally *tallies = bucket_of(shared, location, tid);

	for (int i = 0; i < BPF_TALLY_PLACES; i++)
		if (tallies[i].key == tally_key(location, tid))
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
	shared->locations[location].has_entries = 0;
}
