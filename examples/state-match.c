/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stops a program at the one pass of a loop at which its registers are as wanted, as
 * replaying tools do (rr). Classically, a breakpoint stops it at each pass, and the
 * tool compares; with a filter, the kernel compares. Both stop at the same pass; what
 * is shown is how much of the overhead is gone.
 *
 *   state-match [PASSES]
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <truehit.h>

static long passes = 2000000;
static struct truehit *truehit;
static int first, second; /* the registers of two arguments */

/* Its arguments tell one pass from all others. */
static __attribute__((noinline)) void pass(long first, long second)
{
	__asm__ volatile("" : : "r"(first), "r"(second) : "memory");
}

static pid_t start(void)
{
	const pid_t pid = fork();

	if (pid != 0) {
		waitpid(pid, NULL, 0);
		return pid;
	}
	ptrace(PTRACE_TRACEME, 0, 0, 0);
	raise(SIGSTOP);
	for (long i = 0; i < passes; i++)
		pass(i % 1000, i / 1000);
	_exit(0);
}

static int is_wanted(pid_t pid, long wanted)
{
	struct truehit_match state = {.size = sizeof(state)};

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
	}
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Until the child stops for good, or ends. */
static double run(pid_t pid, struct truehit_filter *filter, long wanted, int *is_right)
{
	const double begin = now();
	double seconds;
	int status;

	do {
		ptrace(PTRACE_CONT, pid, 0, 0);
		waitpid(pid, &status, 0);
	} while (filter && WIFSTOPPED(status) && !is_wanted(pid, wanted));
	seconds = now() - begin;
	*is_right = filter ? WIFSTOPPED(status) && is_wanted(pid, wanted)
			   : WIFEXITED(status);
	if (filter)
		truehit_close(filter);
	if (WIFSTOPPED(status)) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return seconds;
}

/* A filter at each pass, with a match or without. */
static int open_filter(pid_t pid, int matches, long wanted, struct truehit_filter **ret)
{
	const struct truehit_options options = {.size = sizeof(options),
						.deed = TRUEHIT_STOP};
	struct truehit_match match = {.size = sizeof(match)};
	int err = truehit_open(truehit, pid, &options, ret);

	match.registers = 1ULL << first | 1ULL << second;
	match.value[first] = (uint64_t)(wanted % 1000);
	match.value[second] = (uint64_t)(wanted / 1000);
	if (err == 0)
		err = truehit_aim(*ret, TRUEHIT_EXECUTE, (uintptr_t)pass, 0);
	if (err == 0 && matches)
		err = truehit_set(*ret, &match);
	if (err == 0)
		truehit_arm(*ret, TRUEHIT_FOREVER);
	return err;
}

static int fail(int err)
{
	fprintf(stderr, "state-match: %s: %s\n", strerror(-err), truehit_why(truehit));
	return err == -EPERM || err == -EACCES ? 77 : 1;
}

int main(int argc, char **argv)
{
	double seconds[3]; /* alone, by comparing at stops, by a match */
	int is_right[3], err;
	long wanted;

	if (argc > 1)
		passes = atol(argv[1]);
	if (passes < 1 || argc > 2) {
		fprintf(stderr, "usage: state-match [PASSES]\n");
		return 2;
	}
	wanted = passes - 1;
	err = truehit_create(&truehit);
	if (err < 0)
		return fail(err);
	find_registers();
	for (int way = 0; way < 3; way++) {
		struct truehit_filter *filter = NULL;
		const pid_t pid = start();

		err = way == 0 ? 0 : open_filter(pid, way == 2, wanted, &filter);
		if (err < 0) {
			kill(pid, SIGKILL);
			return fail(err);
		}
		seconds[way] = run(pid, filter, wanted, &is_right[way]);
	}
	truehit_destroy(truehit);
	printf("pass %ld of %ld: comparing at each stop %.0f ns a pass, in the kernel "
	       "%.0f ns: %.1f %% less overhead\n",
	       wanted + 1, passes, seconds[1] / (double)passes * 1e9,
	       seconds[2] / (double)passes * 1e9,
	       100 - 100 * (seconds[2] - seconds[0]) / (seconds[1] - seconds[0]));
	return is_right[0] && is_right[1] && is_right[2] ? 0 : 1;
}
