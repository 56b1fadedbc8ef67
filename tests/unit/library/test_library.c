/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libtruehit as it is installed: filters in the own process, whose hits are signals,
 * and in a traced child. Among them are the cases of the kernel's own tests of such
 * events (tools/testing/selftests/perf_events: sigtrap_threads, remove_on_exec,
 * watermark_signal), as a user of the library meets them.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/library/filters.h"
#include "tests/unit/witness.h"

enum { THREADS = 8, ROUNDS = 2000 };

/* ---- hits ---- */

static volatile long watched, other;
static pthread_barrier_t barrier;
static volatile unsigned int hits, stale, late, maybes, foreign;
static volatile unsigned int nothing; /* of a wrong reason: a hit is missing */
static int witness = -1;	      /* of @watched */
static pid_t tids[THREADS + 1]; /* by how many hits each has, of those that were told */
static volatile unsigned int told[THREADS + 1];
static volatile uint64_t last_addr;

static void count_thread(pid_t tid)
{
	for (unsigned int i = 0; i <= THREADS; i++) {
		pid_t nobody = 0;

		if (__atomic_compare_exchange_n(&tids[i], &nobody, tid, false,
						__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) ||
		    nobody == tid) {
			__atomic_fetch_add(&told[i], 1, __ATOMIC_SEQ_CST);
			return;
		}
	}
}

static void on_trap(int signal, siginfo_t *info, void *context)
{
	struct truehit_hit hit;
	int whose;

	(void)signal;
	(void)context;
	whose = truehit_whose(truehit, gettid(), info, &hit);
	if (whose != 1) {
		__atomic_fetch_add(whose == 0 ? &foreign : &nothing, 1,
				   __ATOMIC_SEQ_CST);
		return;
	}
	__atomic_fetch_add(hit.stale ? &stale : &hits, 1, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&late, (unsigned int)hit.late, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&maybes, (unsigned int)hit.maybe, __ATOMIC_SEQ_CST);
	last_addr = hit.addr;
	count_thread(hit.tid);
}

static void handle_traps(void)
{
	struct sigaction action = {.sa_flags = SA_SIGINFO, .sa_sigaction = on_trap};

	cr_assert_eq(sigaction(SIGTRAP, &action, NULL), 0);
}

static void begin(void)
{
	start_filters();
	handle_traps();
}

static void end(void)
{
	if (witness >= 0)
		close(witness);
	truehit_destroy(truehit);
}

/* One limit for all: Criterion's queue of limits loses those that end later than the
 * one of the test that starts (BoxFort, bxfi_push_timeout), which its end reports as
 * leaks.
 */
TestSuite(library, .init = begin, .fini = end, .timeout = 900);

static void watch(enum truehit_deed deed)
{
	open_filter(0, deed, 0);
	cr_assert_eq(truehit_aim(filter, TRUEHIT_WRITE, (uintptr_t)&watched,
				 sizeof(watched)),
		     0);
	if (witness < 0)
		witness = witness_writes(&watched);
}

/* On aarch64 an instruction hits again when the handler returns to it, for as long as
 * the filter is armed. */
static void need_hits_once(void)
{
	if (truehit_register(truehit, "x0") == 0)
		cr_skip_test("a thread hits again when its handler returns");
}

/* ---- threads ---- */

static long rounds;

static void *work(void *arg)
{
	pthread_barrier_wait(&barrier);
	for (long i = 0; i < rounds; i++)
		watched = i;
	return arg;
}

static pthread_t threads[THREADS];

static void start_threads(long of_each)
{
	rounds = of_each;
	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, work, NULL), 0);
}

static void join_threads(void)
{
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

Test(library, a_filter_that_is_not_armed)
{
	struct truehit_counts counts;

	watch(TRUEHIT_STOP);
	start_threads(ROUNDS);
	join_threads();
	counts = counts_of(filter);
	cr_expect_eq(hits, 0);
	cr_expect_eq(counts.hits, 0);
}

/* New threads inherit it. */
Test(library, every_hit_of_every_thread)
{
	struct truehit_counts counts;

	need_hits_once();
	watch(TRUEHIT_STOP);
	truehit_arm(filter, TRUEHIT_FOREVER);
	start_threads(ROUNDS);
	join_threads();
	witness_need(witness, THREADS * ROUNDS);
	counts = counts_of(filter);
	cr_expect_eq(hits, THREADS * ROUNDS);
	cr_expect_eq(last_addr, (uintptr_t)&watched);
	for (int i = 0; i < THREADS; i++)
		cr_expect_eq(told[i], ROUNDS, "thread %d: %u", tids[i], told[i]);
	cr_expect_eq(counts.hits, THREADS * ROUNDS);
	cr_expect_eq(counts.told, THREADS * ROUNDS);
	cr_expect_eq(stale + late + maybes + foreign, 0);
}

/* Aimed while they are there already, and armed. */
Test(library, threads_that_are_there_already)
{
	need_hits_once();
	open_filter(0, TRUEHIT_STOP, 0);
	witness = witness_writes(&watched);
	start_threads(ROUNDS);
	cr_assert_eq(truehit_aim(filter, TRUEHIT_WRITE, (uintptr_t)&watched,
				 sizeof(watched)),
		     0);
	truehit_arm(filter, TRUEHIT_FOREVER);
	join_threads();
	witness_need(witness, THREADS * ROUNDS);
	cr_expect_eq(hits, THREADS * ROUNDS);
}

static void check_armed_for(long number, long of_each)
{
	const struct truehit_counts before = counts_of(filter);
	struct truehit_counts counts;

	hits = 0;
	truehit_arm(filter, number);
	start_threads(of_each);
	join_threads();
	counts = counts_of(filter);
	cr_expect_eq(hits, (unsigned int)number, "armed for %ld: %u", number, hits);
	cr_expect_eq(counts.told - before.told, (uint64_t)number);
}

/* ARMED_HITS=100000: so many of each thread. */
Test(library, armed_for_so_many)
{
	static const long numbers[] = {1, 2, 1000};
	const char *wanted = getenv("ARMED_HITS");
	const long of_each = wanted ? atol(wanted) : 20000;

	watch(TRUEHIT_STOP);
	for (unsigned int i = 0; i < 3; i++)
		check_armed_for(numbers[i], of_each);
}

/* While it is armed and disarmed all the time, nothing is told that is not counted. */
Test(library, armed_and_disarmed_while_they_run)
{
	need_hits_once();
	watch(TRUEHIT_STOP);
	start_threads(20 * ROUNDS);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 10000; i++)
		truehit_arm(filter, i % 2 ? TRUEHIT_FOREVER : 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	cr_expect_eq(counts_of(filter).told, hits);
	cr_expect_eq(foreign, 0);
}

/* ---- aims ---- */

Test(library, aimed_elsewhere)
{
	need_hits_once();
	watch(TRUEHIT_STOP);
	truehit_arm(filter, TRUEHIT_FOREVER);
	watched = 1;
	other = 1;
	cr_expect_eq(hits, 1);
	cr_assert_eq(truehit_aim(filter, TRUEHIT_WRITE, (uintptr_t)&other, 8), 0);
	watched = 2;
	other = 2;
	cr_expect_eq(hits, 2);
	cr_expect_eq(last_addr, (uintptr_t)&other);
	cr_expect_eq(truehit_aim(filter, TRUEHIT_WRITE, 1, 8), -EINVAL);
	cr_expect_eq(truehit_aim(filter, TRUEHIT_WRITE, 0, 16), -EINVAL);
	other = 3;
	cr_expect_eq(hits, 3, "where it was aimed before");
}

static volatile uintptr_t aimed;
static volatile unsigned int turn; /* odd: it is being aimed */
static volatile unsigned int wrong;

/* Of a hit that is not stale, the address is that of the aim. */
static void on_aimed_trap(int signal, siginfo_t *info, void *context)
{
	const unsigned int before = turn;
	const uintptr_t aim = aimed;
	struct truehit_hit hit;
	int whose;

	(void)signal;
	(void)context;
	whose = truehit_whose(truehit, gettid(), info, &hit);
	if (whose == 0)
		__atomic_fetch_add(&foreign, 1, __ATOMIC_SEQ_CST);
	else if (whose == 1 && !hit.maybe && !hit.stale && before % 2 == 0 &&
		 turn == before && hit.addr != aim)
		__atomic_fetch_add(&wrong, 1, __ATOMIC_SEQ_CST);
}

static void *write_both(void *goes_on)
{
	while (*(volatile bool *)goes_on) {
		watched = 1;
		other = 1;
	}
	return NULL;
}

Test(library, aimed_elsewhere_while_they_run)
{
	enum { WRITERS = 2, AIMS = 300 };
	struct sigaction action = {.sa_flags = SA_SIGINFO,
				   .sa_sigaction = on_aimed_trap};
	volatile bool goes_on = true;

	need_hits_once();
	cr_assert_eq(sigaction(SIGTRAP, &action, NULL), 0);
	watch(TRUEHIT_STOP);
	aimed = (uintptr_t)&watched;
	truehit_arm(filter, TRUEHIT_FOREVER);
	for (int i = 0; i < WRITERS; i++)
		cr_assert_eq(
			pthread_create(&threads[i], NULL, write_both, (void *)&goes_on),
			0);
	for (int i = 0; i < AIMS; i++) {
		turn++;
		aimed = (uintptr_t)(i % 2 ? &watched : &other);
		cr_assert_eq(truehit_aim(filter, TRUEHIT_WRITE, aimed, 8), 0);
		turn++;
		sched_yield();
	}
	goes_on = false;
	for (int i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
	cr_expect_eq(foreign, 0);
	cr_expect_eq(wrong, 0, "%u hits of a former aim", wrong);
}

Test(library, no_program_is_loaded_for_a_new_aim)
{
	enum { AIMS = 10000, PLACES = 16 };
	static volatile long places[PLACES];
	struct truehit_match wanted = {.size = sizeof(wanted)};

	open_filter(0, TRUEHIT_COUNT, 0);
	forbid_bpf();
	for (unsigned int i = 0; i < AIMS; i++) {
		const uintptr_t aim = (uintptr_t)&places[i % PLACES];

		cr_assert_eq(truehit_aim(filter, TRUEHIT_WRITE, aim, 8), 0);
		wanted.only_tid = i % 2 ? gettid() : 0;
		match(&wanted);
		truehit_arm(filter, 1);
		for (unsigned int j = 0; j < PLACES; j++)
			places[j] = i;
		cr_assert_eq(counts_of(filter).told + nothing, i + 1, "aim %u", i);
	}
}

/* In a thread that ends by any system call but exit(2). */
static void *call_without_the_kernel(void *done)
{
	const struct truehit_match wanted = {.size = sizeof(wanted)};
	struct truehit_counts counts = {.size = sizeof(counts)};

	prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	truehit_arm(filter, 3);
	truehit_read(filter, &counts);
	*(int *)done = truehit_set(filter, &wanted) == 0 && counts.hits == 0;
	syscall(SYS_exit, 0);
	return NULL;
}

Test(library, what_needs_no_system_call)
{
	pthread_t thread;
	int done = 0;

	watch(TRUEHIT_COUNT);
	cr_assert_eq(pthread_create(&thread, NULL, call_without_the_kernel, &done), 0);
	pthread_join(thread, NULL);
	cr_expect(done);
	for (long i = 0; i < 10; i++)
		watched = i;
	cr_expect_eq(counts_of(filter).told, 3);
}

/* A signal that is blocked comes later, and tells so; of an aim that is past, too.
 * Others' signals are theirs. */
Test(library, signals_that_come_later)
{
	sigset_t set;

	watch(TRUEHIT_STOP);
	raise(SIGTRAP);
	cr_expect_eq(foreign, 1);
	truehit_arm(filter, 1);
	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	watched = 1;
	cr_expect_eq(hits, 0);
	cr_assert_eq(truehit_aim(filter, TRUEHIT_WRITE, (uintptr_t)&other, 8), 0);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	cr_expect_eq(stale, 1);
	cr_expect_eq(late, 1);
	cr_expect_eq(hits, 0);
}

/* ---- matches ---- */

Test(library, registers_that_match)
{
	struct truehit_match wanted = {
		.size = sizeof(wanted),
		.registers = UINT64_C(1) << FIRST | UINT64_C(1) << PC,
	};
	struct truehit_counts counts;

	wanted.value[FIRST] = 3;
	wanted.value[SECOND] = 7;
	wanted.value[PC] = (uintptr_t)place;

	open_filter(0, TRUEHIT_COUNT, 0);
	cr_assert_eq(truehit_aim(filter, TRUEHIT_EXECUTE, (uintptr_t)place, 0), 0);
	truehit_arm(filter, TRUEHIT_FOREVER);
	match(&wanted);
	pass(1000);
	counts = counts_of(filter);
	cr_expect_eq(counts.hits, 1000);
	cr_expect_eq(counts.told, 100);
	wanted.registers |= UINT64_C(1) << SECOND;
	match(&wanted);
	pass(1000);
	cr_expect_eq(counts_of(filter).told, 101);
	wanted.value[PC]++;
	match(&wanted);
	pass(1000);
	cr_expect_eq(counts_of(filter).told, 101);
	wanted.registers = UINT64_C(1) << (PC + 1);
	cr_expect_eq(truehit_set(filter, &wanted), -EINVAL);
}

Test(library, threads_that_match)
{
	struct truehit_match wanted = {.size = sizeof(wanted), .only_tid = gettid()};

	watch(TRUEHIT_COUNT);
	truehit_arm(filter, TRUEHIT_FOREVER);
	match(&wanted);
	start_threads(ROUNDS);
	join_threads();
	watched = 1;
	cr_expect_eq(counts_of(filter).told, 1);
	wanted = (struct truehit_match){.size = sizeof(wanted), .not_tid = gettid()};
	match(&wanted);
	start_threads(ROUNDS);
	join_threads();
	watched = 1;
	witness_need(witness, 2 * (1 + THREADS * ROUNDS));
	cr_expect_eq(counts_of(filter).told, 1 + THREADS * ROUNDS);
}

Test(library, one_thread_alone)
{
	open_filter(0, TRUEHIT_COUNT, TRUEHIT_ONE_THREAD);
	cr_assert_eq(truehit_aim(filter, TRUEHIT_WRITE, (uintptr_t)&watched, 8), 0);
	truehit_arm(filter, TRUEHIT_FOREVER);
	start_threads(ROUNDS);
	join_threads();
	watched = 1;
	cr_expect_eq(counts_of(filter).hits, 1);
}

/* ---- conditions ---- */

Test(library, conditions)
{
	const uint64_t at = (uintptr_t)&other;
	uint8_t condition[] = {/* const64 at; ref64; const8 5; equal; end */
			       0x25, 0, 0, 0, 0, 0, 0, 0, 0, 0x1a, 0x22, 5, 0x13, 0x27};
	struct truehit_options options = {
		.size = sizeof(options),
		.deed = TRUEHIT_STOP,
		.condition = condition,
		.condition_len = sizeof(condition),
	};

	need_hits_once();
	for (int i = 0; i < 8; i++)
		condition[1 + i] = (uint8_t)(at >> (56 - 8 * i));
	cr_assert_eq(truehit_open(truehit, 0, &options, &filter), 0, "%s",
		     truehit_why(truehit));
	truehit_aim(filter, TRUEHIT_EXECUTE, (uintptr_t)place, 0);
	truehit_arm(filter, TRUEHIT_FOREVER);
	for (other = 0; other < 10; other = other + 1)
		place(0, 0);
	cr_expect_eq(hits, 1);
	cr_expect_eq(counts_of(filter).hits, 10);
	options.condition_len = 3;
	filter = NULL;
	cr_expect_eq(truehit_open(truehit, 0, &options, &filter), -EINVAL);
	cr_expect_null(filter);
	cr_expect_not_null(strstr(truehit_why(truehit), "the condition"), "%s",
			   truehit_why(truehit));
}

/* ---- records ---- */

static unsigned int records;
static struct truehit_hit last_record;

static void take(void *data, const struct truehit_hit *hit)
{
	cr_assert_eq(data, &records);
	records++;
	last_record = *hit;
}

Test(library, records)
{
	watch(TRUEHIT_RECORD);
	truehit_arm(filter, 10);
	cr_expect_eq(truehit_poll(truehit, 0, take, &records), 0);
	for (long i = 0; i < 20; i++)
		watched = i;
	cr_expect_eq(truehit_poll(truehit, -1, take, &records), 10);
	cr_expect_eq(records, 10);
	cr_expect_eq(last_record.filter, filter);
	cr_expect_eq(last_record.addr, (uintptr_t)&watched);
	cr_expect_eq(last_record.tid, gettid());
	cr_expect_eq(hits, 0);
	cr_expect_eq(counts_of(filter).ignored, 0, "it was not armed any more");
}

/* What is left of a filter is not told as the next one's. */
Test(library, the_next_filter)
{
	sigset_t set;

	watch(TRUEHIT_RECORD);
	truehit_arm(filter, 3);
	watched = 1;
	truehit_close(filter);
	watch(TRUEHIT_STOP);
	cr_expect_eq(truehit_poll(truehit, 0, take, &records), 0);
	truehit_arm(filter, 1);
	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	watched = 2;
	truehit_close(filter);
	watch(TRUEHIT_STOP);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	cr_expect_eq(stale, 1);
	cr_expect_eq(hits, 0);
}

/* ---- ends ---- */

Test(library, nothing_is_left_after_exec)
{
	pid_t pid;
	int status;

	watch(TRUEHIT_STOP);
	truehit_arm(filter, TRUEHIT_FOREVER);
	pid = fork();
	if (pid == 0) {
		struct truehit *own;

		if (truehit_create(&own) < 0)
			_exit(10);
		truehit = own;
		watch(TRUEHIT_STOP);
		truehit_arm(filter, TRUEHIT_FOREVER);
		signal(SIGTRAP, SIG_DFL);
		execl("/bin/true", "true", NULL);
		_exit(11);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect_eq(status, 0, "status %x", status);
}

Test(library, registers_run_out)
{
	const struct truehit_options options = {.size = sizeof(options),
						.deed = TRUEHIT_COUNT};
	struct truehit_filter *filters[64];
	int count = 0, err = 0;

	while (count < 64 && err == 0)
		err = truehit_open(truehit, 0, &options, &filters[count++]);
	cr_expect_eq(err, -ENOSPC, "%s", strerror(-err));
	for (int i = 0; i < count - 1; i++)
		truehit_close(filters[i]);
	cr_expect_eq(truehit_open(truehit, 0, &options, &filter), 0,
		     "they are free again");
}

Test(library, no_such_process)
{
	const struct truehit_options options = {.size = sizeof(options),
						.deed = TRUEHIT_COUNT};

	cr_expect_eq(truehit_open(truehit, 0x7ffffff0, &options, &filter), -ESRCH);
	cr_expect_not_null(strstr(truehit_why(truehit), "process 2147483632"));
}
