/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <pthread.h>

#include "bpf/shared/ignore_gate.h"
#include "gdbstub/locations/counts.h"

/* ---- counts by thread ---- */

static void add(struct counts *counts, pid_t tid, uint64_t hits)
{
	const struct hit_counts more = {.hits = hits, .trues = hits / 2, .maybes = 1};

	counts_add(counts, tid, &more);
}

Test(counts, are_kept_by_thread_in_order)
{
	static const pid_t tids[] = {30, 10, 20, 10, 5, 30, 30};
	static const struct {
		pid_t tid;
		uint64_t hits;
	} expected[] = {{5, 4}, {10, 4 + 4}, {20, 4}, {30, 4 + 4 + 4}};
	struct counts counts = {0};

	for (size_t i = 0; i < sizeof(tids) / sizeof(tids[0]); i++)
		add(&counts, tids[i], 4);
	cr_assert_eq(counts.count, sizeof(expected) / sizeof(expected[0]));
	for (size_t i = 0; i < counts.count; i++) {
		cr_expect_eq(counts.threads[i].tid, expected[i].tid);
		cr_expect_eq(counts.threads[i].counts.hits, expected[i].hits);
	}
	cr_expect_eq(counts_total(&counts).hits, 28);
	cr_expect_eq(counts_total(&counts).trues, 14);
	cr_expect_eq(counts_total(&counts).maybes, 7);
	counts_clear(&counts);
	cr_expect_eq(counts_total(&counts).hits, 0);
}

Test(counts, no_row_for_no_hit)
{
	struct counts counts = {0};
	const struct hit_counts none = {0};

	counts_add(&counts, 7, &none);
	cr_expect_eq(counts.count, 0);
}

/* Tid 0 is nobody's; a tid that comes again is another thread's. */
Test(counts, of_a_thread_without_any)
{
	struct counts counts = {0};

	counts_retire(&counts, 1);
	cr_assert_eq(counts_total(&counts).hits, 0);
	counts_clear(&counts);
}

Test(counts, others)
{
	struct counts counts = {0}, sum = {0};

	add(&counts, 0, 6);
	add(&counts, 7, 10);
	add(&counts, 8, 2);
	counts_retire(&counts, 7);
	counts_retire(&counts, 1);
	cr_expect_eq(counts.count, 1);
	cr_expect_eq(counts.others.hits, 16);
	add(&counts, 7, 4);
	add(&sum, 7, 2);
	counts_add_all(&sum, &counts);
	cr_expect_eq(sum.others.hits, 16);
	cr_expect_eq(sum.threads[0].tid, 7);
	cr_expect_eq(sum.threads[0].counts.hits, 6);
	cr_expect_eq(counts_total(&sum).hits, 24);
	counts_clear(&counts);
	counts_clear(&sum);
}

/* ---- the gate ---- */

Test(gate, next_hits_are_ignored)
{
	struct gate gate = {0};

	cr_expect_not(gate_ignores(&gate), "nothing is set");
	gate_set(&gate, 2);
	cr_expect_eq(gate_left(&gate), 2);
	cr_expect(gate_ignores(&gate));
	cr_expect(gate_ignores(&gate));
	cr_expect_not(gate_ignores(&gate));
	cr_expect_not(gate_ignores(&gate));
	cr_expect_eq(gate_left(&gate), 0);
	cr_expect_eq(gate.ignored, 2);
	gate_set(&gate, 1);
	cr_expect(gate_ignores(&gate), "what passed before does not count");
}

Test(gate, without_end)
{
	struct gate gate = {0};

	gate_set(&gate, GATE_ENDLESS);
	for (int i = 0; i < 1000; i++)
		cr_assert(gate_ignores(&gate));
	cr_expect_eq(gate_left(&gate), GATE_ENDLESS);
	gate_reset(&gate);
	cr_expect_eq(gate.ignored, 0);
	cr_expect(gate_ignores(&gate), "reset is about the count");
	gate_set(&gate, 0);
	cr_expect_not(gate_ignores(&gate));
}

Test(gate, one_passes_and_then_none)
{
	struct gate gate = {0}, copy = {0};

	gate_set_single(&gate, 2);
	cr_expect_eq(gate_left(&gate), 2);
	cr_expect(gate_ignores(&gate));
	gate_copy(&copy, &gate);
	for (int i = 0; i < 2; i++) {
		cr_expect(gate_ignores(&gate));
		cr_expect_not(gate_is_spent(&gate));
		cr_expect_not(gate_ignores(&gate), "the third hit");
		cr_expect(gate_is_spent(&gate));
		for (int j = 0; j < 10; j++)
			cr_expect(gate_ignores(&gate), "one has passed");
		cr_expect_eq(gate_left(&gate), GATE_ENDLESS);
		gate_set_single(&gate, 1);
	}
	cr_expect(gate_ignores(&copy));
	cr_expect_not(gate_ignores(&copy), "its own");
	cr_expect(gate_ignores(&copy));
	gate_set(&copy, 0);
	cr_expect_not(gate_is_spent(&copy));
	cr_expect_not(gate_ignores(&copy));
	cr_expect_not(gate_ignores(&copy), "as many as come");
}

enum { GATE_THREADS = 8, GATE_HITS = 100000, GATE_COUNT = 300001 };

static void *hit_gate(void *gate)
{
	uintptr_t passed = 0;

	for (int i = 0; i < GATE_HITS; i++)
		passed += !gate_ignores(gate);
	return (void *)passed;
}

Test(gate, exactly_so_many_among_threads)
{
	struct gate gate = {0};
	pthread_t threads[GATE_THREADS];
	uintptr_t passed = 0;

	gate_set(&gate, GATE_COUNT);
	for (int i = 0; i < GATE_THREADS; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, hit_gate, &gate), 0);
	for (int i = 0; i < GATE_THREADS; i++) {
		void *result;

		pthread_join(threads[i], &result);
		passed += (uintptr_t)result;
	}
	cr_expect_eq(passed, GATE_THREADS * GATE_HITS - GATE_COUNT);
	cr_expect_eq(gate.ignored, GATE_COUNT);
}
