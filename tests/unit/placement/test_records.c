/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>

#include "bpf/placement/records.h"

enum { TID = 100, OTHER = 101 };

struct taken {
	unsigned int count;
	uint32_t location[8];
	bool superseded[8];
};

static void take(void *data, const struct bpf_hit_record *record, bool superseded)
{
	struct taken *taken = data;

	if (taken->count == 8)
		return;
	taken->superseded[taken->count] = superseded;
	taken->location[taken->count++] = record->location;
}

static void add(struct records *records, uint32_t tid, uint32_t location,
		uint32_t by_stop)
{
	const struct bpf_hit_record record = {
		.tid = tid, .location = location, .by_stop = by_stop};

	cr_assert(records_add(records, &record));
}

Test(records, wait_for_their_thread)
{
	struct taken taken = {0};
	struct records records;

	records_init(&records);
	for (uint32_t i = 0; i < 1000; i++)
		add(&records, OTHER, 9, 0);
	add(&records, TID, 1, 0);
	add(&records, TID, 2, 0);
	cr_expect_not(records_take(&records, TID, false, take, &taken));
	cr_assert_eq(taken.count, 2);
	cr_expect_eq(taken.location[0], 1);
	cr_expect_eq(taken.location[1], 2);
	cr_expect_eq(records.count, 1000);

	taken.count = 0;
	records_take(&records, TID, false, take, &taken);
	cr_expect_eq(taken.count, 0, "a record was handed out twice");
	records_deinit(&records);
}

static bool is_of(void *data, const struct bpf_hit_record *record)
{
	return record->location == *(uint32_t *)data;
}

/* Until they are taken, also if a SIGSTOP is still to be seen. */
Test(records, are_there_until_they_are_taken)
{
	struct taken taken = {0};
	struct records records;
	uint32_t one = 1, two = 2;

	records_init(&records);
	add(&records, OTHER, 2, 0);
	add(&records, TID, 1, 1);
	cr_expect(records_have(&records, TID, is_of, &one));
	cr_expect_not(records_have(&records, TID, is_of, &two));
	cr_expect_not(records_have(&records, TID + 2, is_of, &one));
	cr_expect(records_take(&records, TID, false, take, &taken));
	cr_expect_not(records_have(&records, TID, is_of, &one));
	records_deinit(&records);
}

Test(records, owe_a_sigstop)
{
	struct taken taken = {0};
	struct records records;

	records_init(&records);
	/* Another signal comes first and takes the hit; the SIGSTOP follows. */
	add(&records, TID, 1, 1);
	cr_expect(records_take(&records, TID, false, take, &taken));
	cr_expect_eq(taken.count, 1);
	cr_expect(records_take(&records, TID, true, take, &taken));
	cr_expect_eq(taken.count, 1, "the hit was told twice");
	cr_expect_not(records_take(&records, TID, true, take, &taken));
	cr_expect_eq(records.count, 0);
	records_deinit(&records);
}

Test(records, of_a_gone_location)
{
	struct taken taken = {0};
	struct records records;

	records_init(&records);
	add(&records, TID, 1, 0);
	add(&records, TID, 1, 1);
	add(&records, TID, 2, 0);
	records_forget_location(&records, 1);
	cr_expect(records_take(&records, TID, true, take, &taken),
		  "the SIGSTOP of a gone location is ours all the same");
	cr_assert_eq(taken.count, 1);
	cr_expect_eq(taken.location[0], 2);
	records_deinit(&records);
}

/* Thousands of threads can hit at the same time: each of their stops finds its own. */
Test(records, of_many_threads)
{
	enum { THREADS = 4000 };
	struct taken taken = {0};
	struct records records;

	records_init(&records);
	for (uint32_t i = 0; i < 2 * THREADS; i++)
		add(&records, 1 + i % THREADS, i / THREADS, 1);
	cr_expect(records_are_many(&records));
	for (uint32_t tid = THREADS; tid > 0; tid--) {
		taken.count = 0;
		cr_expect(records_take(&records, tid, true, take, &taken));
		cr_assert_eq(taken.count, 2);
		cr_expect_eq(taken.location[0], 0);
		cr_expect_eq(taken.location[1], 1);
	}
	cr_expect_eq(records.count, 0);
	records_deinit(&records);
}

static bool is_other(void *data, const struct bpf_hit_record *record)
{
	(void)data;
	return record->tid == OTHER;
}

Test(records, drop_the_dead)
{
	struct taken taken = {0};
	struct records records;

	records_init(&records);
	add(&records, OTHER, 1, 0);
	add(&records, TID, 2, 0);
	cr_expect_not(records_are_many(&records));
	records_drop(&records, is_other, NULL);
	cr_expect_eq(records.count, 1);
	records_take(&records, OTHER, true, take, &taken);
	cr_expect_eq(taken.count, 0);
	records_deinit(&records);
}

static void add_probe(struct records *records, uint32_t location, uint64_t value)
{
	const struct bpf_hit_record record = {.tid = TID,
					      .location = location,
					      .by_stop = 1,
					      .registers = {value, 1}};

	cr_assert(records_add(records, &record));
}

Test(records, of_a_place_that_the_thread_has_left)
{
	struct taken taken = {0};
	struct records records;

	records_init(&records);
	add_probe(&records, 1, 10);
	add(&records, OTHER, 4, 1);
	add_probe(&records, 2, 11);
	add_probe(&records, 3, 11); /* at the same place */
	add(&records, TID, 5, 1);   /* what the instruction has written to */
	records_take(&records, TID, true, take, &taken);
	cr_assert_eq(taken.count, 4);
	cr_expect(taken.superseded[0]);
	cr_expect_not(taken.superseded[1]);
	cr_expect_not(taken.superseded[2]);
	cr_expect_not(taken.superseded[3]);
	records_deinit(&records);
}
