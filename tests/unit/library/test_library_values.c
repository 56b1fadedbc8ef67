/* SPDX-License-Identifier: BSD-2-Clause */
/* What libtruehit's filters of data tell of values (TRUEHIT_VALUES). */
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/library/filters.h"
#include "tests/unit/witness.h"

static void end(void)
{
	truehit_destroy(truehit);
}

TestSuite(library_values, .init = start_filters, .fini = end, .timeout = 300);

/* ---- what is written, and what is told of it ---- */

static union {
	volatile uint8_t byte;
	volatile uint16_t half;
	volatile uint32_t word;
	volatile uint64_t whole;
} watched;
static volatile uint64_t other;

static void write_watched(size_t len, uint64_t value)
{
	switch (len) {
	case 1:
		watched.byte = (uint8_t)value;
		break;
	case 2:
		watched.half = (uint16_t)value;
		break;
	case 4:
		watched.word = (uint32_t)value;
		break;
	default:
		watched.whole = value;
	}
}

enum { RECORDS_MAX = 200000 };

static struct truehit_hit *records;
static size_t nrecords;

static void take(void *data, const struct truehit_hit *hit)
{
	(void)data;
	cr_assert_lt(nrecords, RECORDS_MAX);
	records[nrecords++] = *hit;
}

static void poll_records(void)
{
	if (!records)
		records = calloc(RECORDS_MAX, sizeof(*records));
	nrecords = 0;
	truehit_poll(truehit, 0, take, NULL);
}

/* Such a one comes before the access. */
static bool comes_before(void)
{
	return truehit_register(truehit, "x0") == 0;
}

static void aim(size_t len)
{
	cr_assert_eq(truehit_aim(filter, TRUEHIT_WRITE, (uintptr_t)&watched, len), 0);
}

/* Of writes of what is in @values, the first of which was there before. */
static void expect_records(const uint64_t *values, size_t count)
{
	poll_records();
	cr_assert_eq(nrecords, count - 1);
	for (size_t i = 0; i < nrecords; i++) {
		const struct truehit_hit *hit = &records[i];

		cr_expect(hit->has_before, "record %zu", i);
		cr_expect_eq(hit->before, values[i], "record %zu: before: %lx", i,
			     (unsigned long)hit->before);
		cr_expect_eq(hit->has_value, !comes_before());
		cr_expect_eq(hit->value, comes_before() ? 0 : values[i + 1],
			     "record %zu: %lx", i, (unsigned long)hit->value);
		cr_expect_not(hit->maybe);
	}
}

/* All lengths, by the same program. */
Test(library_values, before_and_after)
{
	static const size_t lengths[] = {1, 2, 4, 8, 2, 8, 1};

	open_filter(0, TRUEHIT_RECORD, TRUEHIT_VALUES);
	truehit_arm(filter, TRUEHIT_FOREVER);
	forbid_bpf();
	for (unsigned int i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		const unsigned int unused = 64 - 8 * (unsigned int)lengths[i];
		const uint64_t all = UINT64_MAX >> unused;
		const uint64_t values[] = {UINT64_C(0x1122334455667788) & all, all, 0,
					   0, 7 + i};

		truehit_aim(filter, TRUEHIT_WRITE, (uintptr_t)&other, 8);
		watched.whole = UINT64_C(0x1122334455667788);
		aim(lengths[i]);
		for (unsigned int j = 1; j < 5; j++)
			write_watched(lengths[i], values[j]);
		expect_records(values, 5);
	}
}

/* What has been read is what the processor calls an access, too. */
Test(library_values, of_reads)
{
	const uint64_t values[] = {3, 3, 5, 5};

	open_filter(0, TRUEHIT_RECORD, TRUEHIT_VALUES);
	watched.whole = 3;
	cr_assert_eq(truehit_aim(filter, TRUEHIT_ACCESS, (uintptr_t)&watched.whole, 8),
		     0);
	truehit_arm(filter, TRUEHIT_FOREVER);
	(void)watched.whole;
	watched.whole = 5;
	(void)watched.whole;
	truehit_arm(filter, 0);
	expect_records(values, 4);
}

/* Hits are seen while it is not armed; without hits, nothing is. */
Test(library_values, what_is_not_told)
{
	const int after = !comes_before();
	uint64_t written = 5;
	int ends[2];

	open_filter(0, TRUEHIT_RECORD, TRUEHIT_VALUES);
	watched.whole = 1;
	aim(8);
	watched.whole = 2;
	truehit_arm(filter, TRUEHIT_FOREVER);
	watched.whole = 3;
	cr_assert_eq(pipe(ends), 0);
	cr_assert_eq(write(ends[1], &written, 8), 8);
	cr_assert_eq(read(ends[0], (void *)&watched, 8), 8);
	watched.whole = 6;
	poll_records();
	cr_assert_eq(nrecords, 2);
	cr_expect_eq(records[0].before, 2);
	cr_expect_eq(records[1].before, after ? 3 : 5);
	cr_expect_eq(records[1].value, after ? 6 : 0);
}

Test(library_values, none)
{
	open_filter(0, TRUEHIT_RECORD, 0);
	aim(8);
	truehit_arm(filter, TRUEHIT_FOREVER);
	watched.whole = 2;
	truehit_close(filter);
	open_filter(0, TRUEHIT_RECORD, TRUEHIT_VALUES);
	truehit_arm(filter, TRUEHIT_FOREVER);
	truehit_aim(filter, TRUEHIT_EXECUTE, (uintptr_t)place, 0);
	place(0, 0);
	truehit_arm(filter, 0);
	poll_records();
	cr_assert_eq(nrecords, 1);
	cr_expect_not(records[0].has_value || records[0].has_before);
	cr_expect_eq(records[0].value | records[0].before, 0);
}

/* ---- in another process ---- */

static void write_when_told(int from, int to)
{
	char letter;

	while (read(from, &letter, 1) == 1) {
		watched.whole += (uint64_t)letter;
		if (write(to, &letter, 1) != 1)
			break;
	}
	_exit(0);
}

static int orders[2], answers[2];

static pid_t start_writer(void)
{
	pid_t pid;

	cr_assert_eq(pipe(orders) | pipe(answers), 0);
	pid = fork();
	if (pid == 0) {
		close(orders[1]);
		write_when_told(orders[0], answers[1]);
	}
	close(orders[0]);
	return pid;
}

static void have_written(char by)
{
	cr_assert_eq(write(orders[1], &by, 1), 1);
	cr_assert_eq(read(answers[0], &by, 1), 1);
}

Test(library_values, in_another_process)
{
	const uint64_t values[] = {17, 19, 22};
	pid_t pid;

	watched.whole = 10;
	pid = start_writer();
	have_written(7);
	watched.whole = 99;
	open_filter(pid, TRUEHIT_RECORD, TRUEHIT_VALUES);
	aim(8);
	truehit_arm(filter, TRUEHIT_FOREVER);
	have_written(2);
	have_written(3);
	expect_records(values, 3);
	close(orders[1]);
	cr_expect_eq(waitpid(pid, NULL, 0), pid);
}

/* ---- only if it changes ---- */

static volatile unsigned int signals, maybes;

static void on_trap(int signal, siginfo_t *info, void *context)
{
	struct truehit_hit hit;

	(void)signal;
	(void)context;
	signals += truehit_whose(truehit, gettid(), info, &hit) == 1;
	maybes += (unsigned int)hit.maybe;
}

static void want_changes(enum truehit_deed deed)
{
	const struct truehit_match wanted = {.size = sizeof(wanted), .changes = 1};

	if (comes_before())
		cr_skip_test("hits come before the access");
	open_filter(0, deed, TRUEHIT_VALUES);
	match(&wanted);
	watched.whole = 0;
	aim(8);
	truehit_arm(filter, TRUEHIT_FOREVER);
}

static void write_all(const uint64_t *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		watched.whole = values[i];
}

static const uint64_t some[] = {0, 1, 1, 1, 2, 2, 1, 1};
enum { SOME = sizeof(some) / sizeof(*some) };

Test(library_values, changes_alone)
{
	static const uint64_t changed[] = {0, 1, 2, 1};
	const struct truehit_match all = {.size = sizeof(all)};

	want_changes(TRUEHIT_RECORD);
	write_all(some, SOME);
	truehit_arm(filter, 0);
	watched.whole = 4;
	truehit_arm(filter, TRUEHIT_FOREVER);
	watched.whole = 4;
	truehit_arm(filter, 1);
	cr_expect_eq(counts_of(filter).told, 3);
	cr_expect_eq(counts_of(filter).skipped, SOME - 3 + 1);
	expect_records(changed, 4);
	match(&all);
	watched.whole = 4;
	cr_expect_eq(counts_of(filter).told, 4);
}

Test(library_values, changes_stop)
{
	struct sigaction action = {.sa_flags = SA_SIGINFO, .sa_sigaction = on_trap};

	cr_assert_eq(sigaction(SIGTRAP, &action, NULL), 0);
	want_changes(TRUEHIT_STOP);
	write_all(some, SOME);
	cr_expect_eq(signals, 3);
	cr_expect_eq(counts_of(filter).maybes, 0);
}

/* Of an instruction it means nothing, and without values it cannot be. */
Test(library_values, changes_of_what)
{
	const struct truehit_match wanted = {.size = sizeof(wanted), .changes = 1};

	if (comes_before()) {
		open_filter(0, TRUEHIT_COUNT, TRUEHIT_VALUES);
		cr_expect_eq(truehit_set(filter, &wanted), -EOPNOTSUPP);
		return;
	}
	want_changes(TRUEHIT_COUNT);
	truehit_aim(filter, TRUEHIT_EXECUTE, (uintptr_t)place, 0);
	pass(10);
	cr_expect_eq(counts_of(filter).told, 10);
	open_filter(0, TRUEHIT_COUNT, 0);
	cr_expect_eq(truehit_set(filter, &wanted), -EINVAL);
}

/* Where nobody can read it, it is not known, and what depends on it is a maybe. */
Test(library_values, changes_that_are_not_known)
{
	const struct truehit_match wanted = {.size = sizeof(wanted), .changes = 1};

	if (comes_before())
		cr_skip_test("hits come before the access");
	open_filter(0, TRUEHIT_RECORD, TRUEHIT_VALUES);
	match(&wanted);
	forbid_memory();
	aim(8);
	truehit_arm(filter, TRUEHIT_FOREVER);
	watched.whole = 1;
	watched.whole = 1;
	poll_records();
	cr_assert_eq(nrecords, 1);
	cr_expect(records[0].maybe);
	cr_expect_not(records[0].has_before);
	cr_expect(records[0].has_value);
	cr_expect_eq(records[0].value, 1);
}

/* ---- several threads ---- */

enum { THREADS = 4, ROUNDS = 5000 };

static atomic_int ended;

static void *write_own(void *number)
{
	for (uint64_t i = 1; i <= ROUNDS; i++)
		watched.whole = *(uint64_t *)number * 2 * ROUNDS + i;
	ended++;
	return NULL;
}

/* By how much is each value told more often as the one after an access? */
static long long imbalance(void)
{
	static int more[THREADS * 2 * ROUNDS + 1];
	long long sum = 0;

	for (size_t i = 0; i < nrecords; i++) {
		more[records[i].value] += records[i].has_value;
		more[records[i].before] -= records[i].has_before;
	}
	for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++)
		sum += llabs(more[i]);
	return sum;
}

/* Each value that hits have found is what the next one finds before. */
Test(library_values, of_several_threads)
{
	uint64_t numbers[THREADS];
	pthread_t threads[THREADS];
	size_t unknown = 0;
	int witness;

	if (comes_before())
		cr_skip_test("hits come before the access");
	witness = witness_writes(&watched);
	open_filter(0, TRUEHIT_RECORD, TRUEHIT_VALUES);
	aim(8);
	truehit_arm(filter, TRUEHIT_FOREVER);
	poll_records();
	for (uint64_t i = 0; i < THREADS; i++) {
		numbers[i] = i;
		cr_assert_eq(pthread_create(&threads[i], NULL, write_own, &numbers[i]),
			     0);
	}
	while (ended < THREADS)
		truehit_poll(truehit, 1, take, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	truehit_poll(truehit, 0, take, NULL);
	witness_need(witness, THREADS * ROUNDS);
	close(witness);
	cr_expect_eq(counts_of(filter).lost, 0);
	cr_expect_eq(nrecords, THREADS * ROUNDS);
	for (size_t i = 0; i < nrecords; i++)
		unknown += !records[i].has_value || !records[i].has_before;
	cr_expect_leq(imbalance(), 2 + 4 * (long long)unknown, "%lld, %zu unknown",
		      imbalance(), unknown);
	cr_log_info("%zu of %zu are not known", unknown, nrecords);
	cr_expect_lt(unknown, nrecords / 2);
}
