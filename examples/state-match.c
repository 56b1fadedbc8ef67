/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stops a program at the one pass of a loop at which its state is as wanted, as
 * replaying tools do (rr). Classically, a breakpoint stops it at each pass, and the
 * tool compares (here it is one in hardware, the cheaper kind, as no step over it is
 * needed); with a filter, the kernel compares. Both stop at the same pass; what
 * is shown is how much of the overhead is gone.
 *
 *   state-match [PASSES]            passes differ in registers
 *   state-match --counter [PASSES]  ... in nothing but what a counter has counted
 *
 * The counter's value at the wanted pass is recorded first. It counts the instructions
 * that the program retires, where the processor counts them, and as many in each run;
 * else, by a breakpoint that stops nobody, the calls of a function.
 */
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <truehit.h>

static long passes = 2000000;
static long wanted;	      /* the last one, from 0 on */
static volatile long *now_at; /* the pass that the child is at */
static int counts;	      /* by a counter? */
static uint64_t wanted_count; /* ... what it is at the wanted pass */
static int counter = -1;      /* ... of the child */
static struct truehit *truehit;
static int first, second; /* the registers of two arguments */

/* ---- the program ---- */

static __attribute__((noinline)) void pass(long low, long high)
{
	__asm__ volatile("" : : "r"(low), "r"(high) : "memory");
}

static __attribute__((noinline)) void turn(void)
{
	__asm__ volatile("nop" : : : "memory");
}

/* Its arguments tell one pass from all others; or they are the same. */
static void loop(void)
{
	for (long i = 0; i < passes; i++) {
		*now_at = i;
		turn();
		if (counts)
			pass(0, 0);
		else
			pass(i % 1000, i / 1000);
	}
}

static pid_t start(void)
{
	pid_t pid;

	*now_at = -1;
	pid = fork();
	if (pid != 0) {
		waitpid(pid, NULL, 0);
		return pid;
	}
	ptrace(PTRACE_TRACEME, 0, 0, 0);
	raise(SIGSTOP);
	loop();
	_exit(0);
}

/* ---- the counter ---- */

static struct perf_event_attr instructions = {
	.type = PERF_TYPE_HARDWARE,
	.size = sizeof(instructions),
	.config = PERF_COUNT_HW_INSTRUCTIONS,
	.exclude_kernel = 1,
	.exclude_hv = 1,
};
static struct perf_event_attr turns = {
	.type = PERF_TYPE_BREAKPOINT,
	.size = sizeof(turns),
	.bp_type = HW_BREAKPOINT_X,
	.bp_addr = (uintptr_t)turn,
	.bp_len = sizeof(long),
	.exclude_kernel = 1,
	.exclude_hv = 1,
};
static struct perf_event_attr *counted = &instructions;

static int open_counter(pid_t pid)
{
	if (counter >= 0)
		close(counter);
	counter = (int)syscall(SYS_perf_event_open, counted, pid, -1, -1,
			       PERF_FLAG_FD_CLOEXEC);
	return counter < 0 ? -errno : 0;
}

static uint64_t count(void)
{
	uint64_t value = 0;

	return read(counter, &value, sizeof(value)) == sizeof(value) ? value : 0;
}

/* ---- stopping it ---- */

static int is_wanted(pid_t pid)
{
	struct truehit_match state = {.size = sizeof(state)};

	if (counts)
		return count() == wanted_count;
	return truehit_save(truehit, pid, &state) == 0 &&
	       state.value[first] == (uint64_t)(wanted % 1000) &&
	       state.value[second] == (uint64_t)(wanted / 1000);
}

/* By the calling conventions of x86_64, or of aarch64. */
static void find_registers(void)
{
	first = truehit_register(truehit, "rdi");
	second = truehit_register(truehit, "rsi");
	if (first < 0) {
		first = truehit_register(truehit, "x0");
		second = truehit_register(truehit, "x1");
		turns.bp_len = 4;
	}
}

/* A filter at each pass, with a match or without. */
static int open_filter(pid_t pid, int matches, struct truehit_filter **ret)
{
	const struct truehit_options options = {
		.size = sizeof(options),
		.deed = TRUEHIT_STOP,
		.flags = TRUEHIT_ONE_THREAD | (counts ? TRUEHIT_COUNTER : 0),
		.counter_fd = counter,
	};
	struct truehit_match match = {.size = sizeof(match)};
	int err = truehit_open(truehit, pid, &options, ret);

	if (counts) {
		match.counts = 1;
		match.counter = wanted_count;
	} else {
		match.registers = 1ULL << first | 1ULL << second;
		match.value[first] = (uint64_t)(wanted % 1000);
		match.value[second] = (uint64_t)(wanted / 1000);
	}
	if (err == 0)
		err = truehit_aim(*ret, TRUEHIT_EXECUTE, (uintptr_t)pass, 0);
	if (err == 0 && matches)
		err = truehit_set(*ret, &match);
	if (err == 0)
		truehit_arm(*ret, TRUEHIT_FOREVER);
	return err;
}

enum way { ALONE, BY_STOPS, BY_MATCH, WAYS };

static double seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Is it stopped for nothing, as truehit_resume() may have it? */
static int is_nothing(pid_t pid)
{
	struct truehit_hit hit;
	siginfo_t info;

	return ptrace(PTRACE_GETSIGINFO, pid, 0, &info) == 0 &&
	       truehit_whose(truehit, pid, &info, &hit) == 2;
}

/* Until the child stops for good, or ends. */
static int resume(pid_t pid, enum way way, int (*is_end)(pid_t pid), int *status)
{
	int err;

	do {
		err = truehit_resume(truehit, pid, PTRACE_CONT, 0, status);
		if (err == 0)
			waitpid(pid, status, 0);
	} while (err >= 0 && WIFSTOPPED(*status) &&
		 (is_nothing(pid) || (way != ALONE && !is_end(pid))));
	return err < 0 ? err : 0;
}

/* Returns 0 or a negative errno; ERANGE: it has not stopped at the wanted pass. */
static int run(enum way way, int (*is_end)(pid_t pid), double *time)
{
	struct truehit_filter *filter = NULL;
	const pid_t pid = start();
	int err = counts ? open_counter(pid) : 0, status = 0;

	if (err == 0 && way != ALONE)
		err = open_filter(pid, way == BY_MATCH, &filter);
	if (err == 0) {
		*time = seconds();
		err = resume(pid, way, is_end, &status);
		*time = seconds() - *time;
	}
	if (err == 0 && (way == ALONE ? !WIFEXITED(status)
				      : !WIFSTOPPED(status) || *now_at != wanted))
		err = -ERANGE;
	truehit_close(filter);
	if (!WIFEXITED(status)) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return err;
}

/* Stops at the wanted pass, and notes what the counter is there. */
static int note_count(pid_t pid)
{
	(void)pid;
	wanted_count = count();
	return *now_at == wanted;
}

static int measure(double *time)
{
	int err = counts ? run(BY_STOPS, note_count, &time[BY_STOPS]) : 0;

	for (int way = ALONE; way < WAYS && err == 0; way++)
		err = run((enum way)way, is_wanted, &time[way]);
	if (err == 0 || !counts || counted == &turns)
		return err;
	fprintf(stderr, "state-match: retired instructions: %s\n",
		err == -ERANGE ? "not as many in each run" : "not counted here");
	counted = &turns;
	return measure(time);
}

static int fail(int err)
{
	if (err == -ERANGE)
		fprintf(stderr, "state-match: not at the wanted pass\n");
	else
		fprintf(stderr, "state-match: %s: %s\n", strerror(-err),
			truehit_why(truehit));
	return err == -EPERM || err == -EACCES || err == -ENODEV ? 77 : 1;
}

static void tell(const double *time)
{
	const double turn_ns = 1e9 / (double)passes;

	if (counts)
		printf("by a counter of %s: ",
		       counted == &turns ? "calls" : "retired instructions");
	printf("pass %ld of %ld: comparing at each stop %.0f ns a pass, in the kernel "
	       "%.0f ns: %.1f %% less overhead\n",
	       wanted + 1, passes, time[BY_STOPS] * turn_ns, time[BY_MATCH] * turn_ns,
	       100 - 100 * (time[BY_MATCH] - time[ALONE]) /
			       (time[BY_STOPS] - time[ALONE]));
}

int main(int argc, char **argv)
{
	double time[WAYS] = {0};
	int err;

	counts = argc > 1 && strcmp(argv[1], "--counter") == 0;
	if (argc > 1 + counts)
		passes = atol(argv[1 + counts]);
	if (passes < 1 || argc > 2 + counts) {
		fprintf(stderr, "usage: state-match [--counter] [PASSES]\n");
		return 2;
	}
	wanted = passes - 1;
	now_at = mmap(NULL, sizeof(*now_at), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if ((void *)now_at == MAP_FAILED)
		return 1;
	err = truehit_create(&truehit);
	if (err < 0)
		return fail(err);
	find_registers();
	err = measure(time);
	if (err < 0)
		return fail(err);
	truehit_destroy(truehit);
	tell(time);
	return 0;
}
