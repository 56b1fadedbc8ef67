/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What programs in the kernel count and ignore, with many threads that hit at once:
 * the test's own, at a hardware breakpoint whose event raises no signal.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "gdbstub/agent/opcode.h"
#include "arch/register_table.h"
#include "bpf/kernel/hw_event.h"
#include "bpf/placement/program.h"
#include "tests/unit/expr.h"
#include "tests/unit/support.h"
#include "tests/unit/witness.h"

enum { THREADS = 16, ROUNDS = 2000 };

static struct bpf_kernel kernel;
static struct programs programs;
static struct program *program;
static struct gate *gate;
static unsigned int nrecords;
static int event = -1;

void tally_test_place(uint64_t number);
__attribute__((noinline)) void tally_test_place(uint64_t number)
{
	__asm__ volatile("" : : "r"(number));
}

static void count_record(void *data, const struct bpf_hit_record *record)
{
	(void)data;
	(void)record;
	nrecords++;
}

static void set_up(void)
{
	survive_unexplained_traps();
	start_programs(&kernel, &programs, count_record, NULL);
}

static void tear_down(void)
{
	if (event >= 0)
		close(event);
	programs_deinit(&programs);
	bpf_kernel_deinit(&kernel);
}

TestSuite(tally, .init = set_up, .fini = tear_down, .timeout = 300);

/* The number of the register that has the argument. */
static unsigned int argument_register(void)
{
	const struct reg_def *row = reg_by_name(arch_native(), "rdi");
	unsigned int count;

	if (!row)
		row = reg_by_name(arch_native(), "x0");
	return (unsigned int)(row - arch_native()->registers(&count));
}

/* tally_test_place(number), if number % 2 == 1 */
static struct agent_expr *is_odd(void)
{
	return EXPR(REG(argument_register()), CONST8(1), AGENT_BIT_AND, AGENT_END);
}

/* This thread and those that it makes from now on run the program. */
static void attach(void)
{
	struct agent_expr *condition = is_odd();
	const struct agent_list conditions = {&condition, 1};
	struct hw_event_options options = {
		.arch = arch_native(),
		.region = {HW_EXECUTE, (uintptr_t)tally_test_place, 1},
	};
	_cleanup_error_ struct error *error =
		program_get(&programs, &conditions, NULL, NULL, &program);

	agent_expr_unref(condition);
	cr_assert_null(error, "%s", error ? error_text(error) : "");
	/* Without a signal, a stop cannot be made by one either. */
	if (kernel.task_blocked_offset < 0)
		cr_skip_test("the kernel has no BTF that tells of task_struct.blocked");
	/* More true hits than the ring has room for are ignored. */
	gate = &kernel.shared->locations[program->location].gate;
	gate_set(gate, GATE_ENDLESS);
	options.program_fd = program->fd;
	need_breakpoint_registers();
	event = hw_event_open(&options, gettid());
	if (event == -ENOSPC || event == -ENOENT || event == -EOPNOTSUPP)
		cr_skip_test("no hardware breakpoint to be had");
	cr_assert_geq(event, 0);
	cr_assert_eq(hw_event_enable(event), 0);
}

static void *hit_rounds(void *data)
{
	(void)data;
	for (uint64_t i = 0; i < ROUNDS; i++)
		tally_test_place(i);
	return NULL;
}

static void start_threads(pthread_t *threads)
{
	for (int i = 0; i < THREADS; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, hit_rounds, NULL), 0);
}

static void join_threads(const pthread_t *threads)
{
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	witness_need(event, THREADS * ROUNDS);
}

static void run_threads(void)
{
	pthread_t threads[THREADS];

	start_threads(threads);
	join_threads(threads);
}

/* What tally_each says. */
struct seen {
	unsigned int threads; /* that hit as often as they should have */
	struct tally_hits others;
	uint64_t total;
};

static uint64_t sum(const struct tally_hits *hits)
{
	return hits->by[BPF_FALSE] + hits->by[BPF_TRUE] + hits->by[BPF_MAYBE];
}

static void see(void *data, uint32_t tid, const struct tally_hits *hits)
{
	struct seen *seen = data;

	seen->total += sum(hits);
	if (tid == 0)
		seen->others = *hits;
	else
		seen->threads += hits->by[BPF_FALSE] == ROUNDS / 2 &&
				 hits->by[BPF_TRUE] == ROUNDS / 2 &&
				 hits->by[BPF_MAYBE] == 0;
}

static struct seen seen(void)
{
	struct seen seen = {0};

	tally_each(kernel.shared, program->location, see, &seen);
	return seen;
}

Test(tally, each_hit_of_each_thread)
{
	struct tally_hits total;

	attach();
	run_threads();
	cr_expect_eq(seen().threads, THREADS);
	cr_expect_eq(seen().total, THREADS * ROUNDS);
	total = tally_total(kernel.shared, program->location);
	cr_expect_eq(total.by[BPF_FALSE], THREADS * ROUNDS / 2);
	cr_expect_eq(total.by[BPF_TRUE], THREADS * ROUNDS / 2);
}

static void add_total(void *data, uint32_t tid, const struct tally_hits *hits)
{
	(void)tid;
	*(uint64_t *)data += sum(hits);
}

Test(tally, a_reset_loses_no_hit_and_counts_none_twice)
{
	pthread_t threads[THREADS];
	uint64_t taken = 0;

	attach();
	start_threads(threads);
	while (taken < THREADS * ROUNDS / 2)
		tally_take(kernel.shared, program->location, add_total, &taken);
	join_threads(threads);
	tally_take(kernel.shared, program->location, add_total, &taken);
	cr_expect_eq(taken, THREADS * ROUNDS);
	cr_expect_eq(seen().total, 0);
}

Test(tally, threads_without_an_entry_are_counted_together)
{
	attach();
	for (size_t i = 0; i < BPF_TALLIES; i++)
		kernel.shared->tallies[i].key = UINT64_MAX;
	run_threads();
	cr_expect_eq(seen().threads, 0);
	cr_expect_eq(seen().total, THREADS * ROUNDS);
	cr_expect_eq(seen().others.by[BPF_TRUE], THREADS * ROUNDS / 2);
	cr_expect_eq(seen().others.by[BPF_FALSE], THREADS * ROUNDS / 2);
}

/* The last free place of a bucket is one, too. */
Test(tally, a_bucket_has_many_places)
{
	attach();
	for (size_t i = 0; i < BPF_TALLIES; i++)
		if (i % BPF_TALLY_PLACES != BPF_TALLY_PLACES - 1)
			kernel.shared->tallies[i].key = UINT64_MAX;
	run_threads();
	cr_expect_eq(seen().threads, THREADS);
	cr_expect_eq(seen().others.by[BPF_TRUE], 0);
}

static bool has_ended(uint32_t tid)
{
	return tid != (uint32_t)gettid();
}

Test(tally, a_tid_comes_again)
{
	attach();
	hit_rounds(NULL);
	cr_expect_eq(seen().threads, 1);
	tally_retire(kernel.shared, program->location, (uint32_t)gettid());
	cr_expect_eq(seen().threads, 0);
	cr_expect_eq(seen().others.by[BPF_TRUE], ROUNDS / 2);
	hit_rounds(NULL);
	cr_expect_eq(seen().threads, 1);
	cr_expect_eq(seen().total, 2 * ROUNDS);
}

/* Threads that have ended make room, those of another location, too. */
Test(tally, entries_of_ended_threads_are_used_again)
{
	enum { OTHER = 7, DEAD = 12345 };

	attach();
	cr_assert_neq(program->location, OTHER);
	kernel.shared->locations[OTHER].has_entries = 1;
	for (size_t i = 0; i < BPF_TALLIES; i++)
		kernel.shared->tallies[i] = (struct bpf_tally){
			.key = (uint64_t)(OTHER + 1) << 32 | DEAD, .hits.by = {1}};
	hit_rounds(NULL);
	cr_expect_eq(seen().threads, 0);
	tally_make_room(kernel.shared, program->location, (uint32_t)gettid(),
			has_ended);
	hit_rounds(NULL);
	cr_expect_eq(seen().threads, 1);
	cr_expect_eq(seen().total, 2 * ROUNDS);
	cr_expect_eq(tally_total(kernel.shared, OTHER).by[BPF_FALSE], BPF_TALLIES);
}

Test(tally, a_program_given_back_leaves_nothing)
{
	unsigned int location;

	attach();
	location = program->location;
	run_threads();
	close(event);
	event = -1;
	program_put(&programs, program);
	for (size_t i = 0; i < BPF_TALLIES; i++) {
		cr_assert_eq(kernel.shared->tallies[i].key, 0);
		cr_assert_eq(sum(&kernel.shared->tallies[i].hits), 0);
	}
	cr_expect_eq(seen().total, 0);
	cr_expect_eq(kernel.shared->locations[location].has_entries, 0);
}

/* Of the true hits of all threads exactly so many leave a record. */
Test(tally, exactly_so_many_are_ignored)
{
	enum { PASS = 1000, COUNT = THREADS * ROUNDS / 2 - PASS };

	attach();
	gate_set(gate, COUNT);
	run_threads();
	bpf_kernel_drain(&kernel);
	cr_expect_eq(gate->ignored, COUNT);
	cr_expect_eq(gate_left(gate), 0);
	cr_expect_eq(nrecords, PASS);
	cr_expect_eq(seen().threads, THREADS,
		     "what is ignored is counted all the same");
}

/* ... or a single one, whichever thread makes it. */
Test(tally, only_one_is_not_ignored)
{
	enum { BEFORE = 12345 };

	attach();
	gate_set_single(gate, BEFORE);
	run_threads();
	bpf_kernel_drain(&kernel);
	cr_expect_eq(gate->ignored, THREADS * ROUNDS / 2 - 1);
	cr_expect(gate_is_spent(gate));
	cr_expect_eq(nrecords, 1);
}

Test(tally, all_are_ignored)
{
	attach();
	run_threads();
	bpf_kernel_drain(&kernel);
	cr_expect_eq(gate->ignored, THREADS * ROUNDS / 2);
	cr_expect_eq(gate_left(gate), GATE_ENDLESS);
	cr_expect_eq(nrecords, 0);
}
