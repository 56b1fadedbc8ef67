/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Filters of libtruehit whose match has a counter's exact value (TRUEHIT_COUNTER). What
 * counts is for the most part a breakpoint that does not sample, which counts the
 * calls of a function exactly, on each machine.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/library/filters.h"
#include "tests/unit/witness.h"

enum { ANY_CPU = -1, APART = 100 };

/* ---- counters, and passes that differ in what is counted alone ---- */

static __attribute__((noinline)) void turn(void)
{
	__asm__ volatile("nop\n\tnop\n\tnop" : : : "memory");
}

static const struct perf_event_attr turns = {
	.type = PERF_TYPE_BREAKPOINT,
	.size = sizeof(turns),
	.bp_type = HW_BREAKPOINT_X,
	.bp_addr = (uintptr_t)turn,
	.bp_len = sizeof(long),
	.exclude_kernel = 1,
	.exclude_hv = 1,
};

static int open_event(const struct perf_event_attr *attr, pid_t tid, int cpu)
{
	struct perf_event_attr event = *attr;

	event.bp_len = truehit_register(truehit, "x0") == 0 ? 4 : event.bp_len;
	return (int)syscall(SYS_perf_event_open, &event, tid, cpu, -1,
			    PERF_FLAG_FD_CLOEXEC);
}

static int open_turns(pid_t tid)
{
	const int fd = open_event(&turns, tid, ANY_CPU);

	cr_assert(fd >= 0, "%s", strerror(errno));
	return fd;
}

static uint64_t value_of(int fd)
{
	uint64_t value = 0;

	cr_assert_eq(read(fd, &value, sizeof(value)), sizeof(value));
	return value;
}

static volatile long *made; /* passes; shared with children */

static void make_passes(long count)
{
	for (long i = 0; i < count; i++) {
		turn();
		++*made;
		place(1, 1);
	}
}

/* ---- filters ---- */

static int counter = -1;

static int try_to_open(pid_t tid, enum truehit_deed deed, unsigned int flags, int fd)
{
	const struct truehit_options options = {
		.size = sizeof(options),
		.deed = deed,
		.flags = flags | TRUEHIT_COUNTER,
		.counter_fd = fd,
	};

	return truehit_open(truehit, tid, &options, &filter);
}

static void aim(void)
{
	cr_assert_eq(truehit_aim(filter, TRUEHIT_EXECUTE, (uintptr_t)place, 0), 0);
	truehit_arm(filter, TRUEHIT_FOREVER);
}

static void filter_with(pid_t tid, enum truehit_deed deed, int fd)
{
	const int err = try_to_open(tid, deed, TRUEHIT_ONE_THREAD, fd);

	cr_assert_eq(err, 0, "%s", truehit_why(truehit));
	aim();
}

static void want(uint64_t value)
{
	const struct truehit_match wanted = {
		.size = sizeof(wanted), .counter = value, .counts = 1};

	match(&wanted);
}

static void begin(void)
{
	start_filters();
	made = mmap(NULL, sizeof(*made), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq((void *)made, MAP_FAILED);
}

static void end(void)
{
	truehit_destroy(truehit);
	if (counter >= 0)
		close(counter);
	munmap((void *)made, sizeof(*made));
}

TestSuite(library_counter, .init = begin, .fini = end, .timeout = 300);

/* ---- in the own process ---- */

enum { TARGETS = 1000 };

static uint64_t targets[TARGETS + 1];
static volatile unsigned int hits, wrong, maybes;

/* The next one is wanted before this returns: on aarch64 the same place hits again. */
static void on_trap(int signal, siginfo_t *info, void *context)
{
	struct truehit_match next = {.size = sizeof(next), .counts = 1};
	struct truehit_hit hit;
	int whose;

	(void)signal;
	(void)context;
	whose = truehit_whose(truehit, gettid(), info, &hit);
	if (whose == 2)
		return;
	if (whose != 1 || hits >= TARGETS) {
		wrong++;
		return;
	}
	wrong += (uint64_t)*made != targets[hits];
	maybes += (unsigned int)hit.maybe;
	next.counter = targets[++hits];
	wrong += truehit_set(filter, &next) != 0;
}

/* A thousand at random; the last one never comes. */
static void choose_targets(void)
{
	srand(1);
	for (unsigned int i = 0; i < TARGETS; i++)
		targets[i] = (i > 0 ? targets[i - 1] : 0) + 1 +
			     (unsigned int)rand() % (APART - 1);
	targets[TARGETS] = UINT64_MAX;
}

Test(library_counter, one_of_thousands)
{
	counter = open_turns(0);
	filter_with(0, TRUEHIT_COUNT, counter);
	want(4321);
	make_passes(4320);
	cr_expect_eq(counts_of(filter).told, 0);
	make_passes(1);
	cr_expect_eq(counts_of(filter).told, 1);
	make_passes(4000);
	cr_expect_eq(counts_of(filter).told, 1);
	cr_expect_eq(counts_of(filter).hits, 8321);
	cr_expect_eq(counts_of(filter).skipped, 8320);
	cr_expect_eq(value_of(counter), 8321);
}

Test(library_counter, random_targets)
{
	struct sigaction action = {.sa_flags = SA_SIGINFO, .sa_sigaction = on_trap};
	const int own = witness_runs((uintptr_t)place, 0);

	cr_assert_eq(sigaction(SIGTRAP, &action, NULL), 0);
	choose_targets();
	counter = open_turns(0);
	filter_with(0, TRUEHIT_STOP, counter);
	forbid_bpf();
	want(targets[0]);
	make_passes((long)TARGETS * APART);
	witness_need(counter, (uint64_t)TARGETS * APART);
	witness_need(own, (uint64_t)TARGETS * APART);
	cr_expect_eq(hits, TARGETS);
	cr_expect_eq(wrong, 0);
	cr_expect_eq(maybes, 0);
	cr_expect_eq(counts_of(filter).told, TARGETS);
}

/* All of a match has to hold. */
Test(library_counter, registers_too)
{
	struct truehit_match wanted = {
		.size = sizeof(wanted),
		.registers = UINT64_C(1) << FIRST,
		.counter = 5,
		.counts = 1,
	};

	wanted.value[FIRST] = 2;
	counter = open_turns(0);
	filter_with(0, TRUEHIT_COUNT, counter);
	match(&wanted);
	make_passes(10);
	cr_expect_eq(counts_of(filter).told, 0);
	wanted.value[FIRST] = 1;
	wanted.counter = 15;
	match(&wanted);
	make_passes(10);
	cr_expect_eq(counts_of(filter).told, 1);
	wanted.counts = 0;
	match(&wanted);
	make_passes(10);
	cr_expect_eq(counts_of(filter).told, 11);
}

/* ---- records ---- */

static unsigned int records, unknown;
static uint64_t values[APART];

static void take(void *data, const struct truehit_hit *hit)
{
	(void)data;
	cr_assert_lt(records, APART);
	values[records++] = hit->counter;
	unknown += !hit->has_counter;
	maybes += (unsigned int)hit->maybe;
}

Test(library_counter, records_tell_it)
{
	counter = open_turns(0);
	filter_with(0, TRUEHIT_RECORD, counter);
	make_passes(10);
	want(15);
	make_passes(10);
	truehit_poll(truehit, 0, take, NULL);
	cr_assert_eq(records, 11);
	for (unsigned int i = 0; i < 10; i++)
		cr_expect_eq(values[i], i + 1);
	cr_expect_eq(values[10], 15);
	cr_expect_eq(unknown + maybes, 0);
}

/* ---- what the caller does with it ---- */

Test(library_counter, the_descriptor_is_the_callers)
{
	const int fd = open_turns(0);

	filter_with(0, TRUEHIT_COUNT, fd);
	close(fd);
	want(40);
	make_passes(100);
	cr_expect_eq(counts_of(filter).told, 1);
	cr_expect_eq(counts_of(filter).maybes, 0);
}

/* One that is stopped stays what it is. */
Test(library_counter, stopped_and_set_to_zero)
{
	counter = open_turns(0);
	filter_with(0, TRUEHIT_COUNT, counter);
	make_passes(7);
	cr_assert_eq(ioctl(counter, PERF_EVENT_IOC_DISABLE, 0), 0);
	want(8);
	make_passes(10);
	cr_expect_eq(counts_of(filter).told, 7);
	want(7);
	make_passes(10);
	cr_expect_eq(counts_of(filter).told, 17);
	cr_assert_eq(ioctl(counter, PERF_EVENT_IOC_RESET, 0), 0);
	cr_assert_eq(ioctl(counter, PERF_EVENT_IOC_ENABLE, 0), 0);
	make_passes(10);
	cr_expect_eq(counts_of(filter).told, 18);
	cr_expect_eq(counts_of(filter).maybes, 0);
}

/* ---- what is not known ---- */

/* Each hit is a maybe. */
static void expect_maybes(void)
{
	want(3);
	make_passes(10);
	truehit_poll(truehit, 0, take, NULL);
	cr_expect_eq(records, 10);
	cr_expect_eq(maybes, 10);
	cr_expect_eq(unknown, 10);
	cr_expect_eq(counts_of(filter).maybes, 10);
}

static void *be_another(void *fd)
{
	*(int *)fd = open_turns(0);
	return NULL;
}

Test(library_counter, of_another_thread)
{
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, be_another, &counter), 0);
	pthread_join(thread, NULL);
	filter_with(0, TRUEHIT_RECORD, counter);
	expect_maybes();
}

static void on_maybe(int signal, siginfo_t *info, void *context)
{
	struct truehit_hit hit;

	(void)signal;
	(void)context;
	hits += truehit_whose(truehit, gettid(), info, &hit) == 1;
	maybes += (unsigned int)hit.maybe;
	truehit_arm(filter, 0);
}

Test(library_counter, signals_of_another_threads)
{
	struct sigaction action = {.sa_flags = SA_SIGINFO, .sa_sigaction = on_maybe};
	pthread_t thread;

	cr_assert_eq(sigaction(SIGTRAP, &action, NULL), 0);
	cr_assert_eq(pthread_create(&thread, NULL, be_another, &counter), 0);
	pthread_join(thread, NULL);
	filter_with(0, TRUEHIT_STOP, counter);
	want(3);
	make_passes(10);
	cr_expect_eq(hits, 1);
	cr_expect_eq(maybes, 1);
}

/* As one that had to make room for others: it counts on a processor on which the thread
 * is not. */
Test(library_counter, that_did_not_count_all_the_time)
{
	cpu_set_t set;
	int cpu;

	if (sched_getaffinity(0, sizeof(set), &set) < 0 || CPU_COUNT(&set) < 2)
		cr_skip_test("there is one processor");
	for (cpu = 0; !CPU_ISSET(cpu, &set);)
		cpu++;
	CPU_CLR(cpu, &set);
	cr_assert_eq(sched_setaffinity(0, sizeof(set), &set), 0);
	counter = open_event(&turns, 0, cpu);
	cr_assert(counter >= 0, "%s", strerror(errno));
	filter_with(0, TRUEHIT_RECORD, counter);
	expect_maybes();
}

/* ---- wrong use ---- */

static void expect_refused(unsigned int flags, int fd, int err, const char *why)
{
	cr_expect_eq(try_to_open(0, TRUEHIT_COUNT, flags, fd), err);
	cr_expect_not_null(strstr(truehit_why(truehit), why), "%s",
			   truehit_why(truehit));
}

Test(library_counter, wrong_use)
{
	const struct truehit_match wanted = {.size = sizeof(wanted), .counts = 1};
	struct perf_event_attr inherited = turns;
	int ends[2];

	cr_assert_eq(pipe(ends), 0);
	counter = open_turns(0);
	expect_refused(0, counter, -EINVAL, "TRUEHIT_ONE_THREAD");
	expect_refused(TRUEHIT_ONE_THREAD, -1, -EBADF, "not an open perf event");
	expect_refused(TRUEHIT_ONE_THREAD, ends[0], -EBADF, "not an open perf event");
	close(counter);
	inherited.inherit = 1;
	counter = open_event(&inherited, 0, ANY_CPU);
	cr_assert(counter >= 0, "%s", strerror(errno));
	expect_refused(TRUEHIT_ONE_THREAD, counter, -EINVAL, "inherited");
	open_filter(0, TRUEHIT_COUNT, TRUEHIT_ONE_THREAD);
	cr_expect_eq(truehit_set(filter, &wanted), -EINVAL);
}

/* Who knows nothing of counters has none, whatever lies behind the structs. */
Test(library_counter, older_structs)
{
	const struct truehit_options options = {
		.size = offsetof(struct truehit_options, counter_fd),
		.deed = TRUEHIT_COUNT,
		.counter_fd = -1,
	};
	const struct truehit_match wanted = {
		.size = offsetof(struct truehit_match, counter),
		.counter = 1000,
		.counts = 1,
	};

	cr_assert_eq(truehit_open(truehit, 0, &options, &filter), 0, "%s",
		     truehit_why(truehit));
	aim();
	match(&wanted);
	make_passes(10);
	cr_expect_eq(counts_of(filter).told, 10);
	truehit_close(filter);
	counter = open_turns(0);
	filter_with(0, TRUEHIT_COUNT, counter);
	match(&wanted);
	make_passes(10);
	cr_expect_eq(counts_of(filter).told, 10);
}

/* ---- other counters ---- */

/* The kernel's of page faults: pages are touched one after the other, and hits tell
 * what read(2) does. */
Test(library_counter, page_faults)
{
	enum { PAGES = 64 };
	const struct perf_event_attr faults = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(faults),
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	const size_t size = (size_t)sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, PAGES * size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t found[PAGES];

	cr_assert_neq((void *)pages, MAP_FAILED);
	madvise(pages, PAGES * size, MADV_NOHUGEPAGE);
	memset(found, 0, sizeof(found));
	counter = open_event(&faults, 0, ANY_CPU);
	cr_assert(counter >= 0, "%s", strerror(errno));
	filter_with(0, TRUEHIT_RECORD, counter);
	for (unsigned int i = 0; i < PAGES; i++) {
		((volatile char *)pages)[i * size] = 1;
		found[i] = value_of(counter);
		place(1, 1);
	}
	truehit_poll(truehit, 0, take, NULL);
	cr_assert_eq(records, PAGES);
	cr_expect_arr_eq(values, found, sizeof(found));
	cr_expect_geq(values[PAGES - 1] - values[0], PAGES - 1);
	cr_expect_eq(unknown, 0);
}

/* ---- in a traced child ---- */

static pid_t start_child(long passes)
{
	const pid_t pid = fork();
	int status;

	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		raise(SIGSTOP);
		make_passes(passes);
		_exit(0);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	return pid;
}

static int places = -1; /* counts where the filter is, to see whether registers do */

/* To the next hit, of that is asked for. */
static void resume(pid_t pid)
{
	struct truehit_hit hit;
	siginfo_t info;
	int status, whose;

	do {
		cr_assert_eq(truehit_resume(truehit, pid, PTRACE_CONT, 0, &status), 0);
		cr_assert_eq(waitpid(pid, &status, 0), pid);
		if (!WIFSTOPPED(status) && places >= 0)
			witness_need(places, (uint64_t)*made);
		cr_assert(WIFSTOPPED(status), "after %ld passes: status %x", *made,
			  (unsigned int)status);
		cr_assert_eq(ptrace(PTRACE_GETSIGINFO, pid, 0, &info), 0);
		whose = truehit_whose(truehit, pid, &info, &hit);
	} while (whose == 2);
	cr_assert_eq(whose, 1);
	cr_expect_not(hit.maybe);
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

Test(library_counter, random_targets_of_a_child)
{
	const pid_t pid = start_child((long)TARGETS * APART);

	choose_targets();
	places = witness_runs((uintptr_t)place, pid);
	counter = open_turns(pid);
	filter_with(pid, TRUEHIT_STOP, counter);
	forbid_bpf();
	for (unsigned int i = 0; i < TARGETS; i++) {
		want(targets[i]);
		resume(pid);
		cr_assert_eq(value_of(counter), targets[i]);
		witness_need(counter, (uint64_t)*made);
		cr_assert_eq((uint64_t)*made, targets[i], "%ld", *made);
	}
	cr_expect_eq(counts_of(filter).told, TARGETS);
	witness_need(places, targets[TARGETS - 1]);
	cr_expect_eq(counts_of(filter).hits, targets[TARGETS - 1]);
	cr_expect_eq(counts_of(filter).maybes, 0);
	end_child(pid);
}

/* ---- where the processor counts ---- */

static const struct perf_event_attr instructions = {
	.type = PERF_TYPE_HARDWARE,
	.size = sizeof(instructions),
	.config = PERF_COUNT_HW_INSTRUCTIONS,
	.exclude_kernel = 1,
	.exclude_hv = 1,
};

/* How many instructions each pass has, from one stop to the next; 0: not always as
 * many. */
static uint64_t instructions_of_a_pass(pid_t pid)
{
	uint64_t last, of_one = 0;

	resume(pid);
	last = value_of(counter);
	for (unsigned int i = 0; i < APART; i++) {
		const uint64_t before = last;

		resume(pid);
		last = value_of(counter);
		if (i > 0 && last - before != of_one)
			return 0;
		of_one = last - before;
	}
	return of_one;
}

Test(library_counter, retired_instructions)
{
	pid_t pid = start_child((long)TARGETS * APART + 2 * APART);
	uint64_t of_one, first;
	long from;

	choose_targets();
	counter = open_event(&instructions, pid, ANY_CPU);
	if (counter < 0) {
		end_child(pid);
		cr_skip_test("no counter of instructions: %s", strerror(errno));
	}
	filter_with(pid, TRUEHIT_STOP, counter);
	of_one = instructions_of_a_pass(pid);
	if (of_one == 0) {
		end_child(pid);
		cr_skip_test("passes have not always as many instructions");
	}
	from = *made;
	first = value_of(counter);
	for (unsigned int i = 0; i < TARGETS; i++) {
		want(first + of_one * targets[i]);
		resume(pid);
		cr_assert_eq(*made, from + (long)targets[i], "%ld", *made);
	}
	cr_expect_eq(counts_of(filter).maybes, 0);
	end_child(pid);
}
