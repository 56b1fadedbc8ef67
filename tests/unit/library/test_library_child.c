/* SPDX-License-Identifier: BSD-2-Clause */
/* libtruehit's filters in a traced child. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/library/filters.h"

static void end(void)
{
	truehit_destroy(truehit);
}

TestSuite(library_child, .init = start_filters, .fini = end, .timeout = 120);

/* SIGUSR2 ends the child, by the number of others. */
static void handle(int signal)
{
	static int handled;

	if (signal == SIGUSR2)
		_exit(handled);
	handled++;
}

static pid_t start_child(bool blocks, long passes)
{
	const pid_t pid = fork();
	sigset_t set;

	if (pid != 0)
		return pid;
	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	sigprocmask(blocks ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
	ptrace(PTRACE_TRACEME, 0, 0, 0);
	signal(SIGUSR1, handle);
	signal(SIGUSR2, handle);
	raise(SIGSTOP);
	pass(passes);
	_exit(0);
}

/* Of the child's 1,000 passes the one that matches stops it. */
static void debug_child(bool blocks)
{
	struct truehit_match wanted = {
		.size = sizeof(wanted),
		.registers = UINT64_C(1) << FIRST | UINT64_C(1) << SECOND,
	};
	struct truehit_match state = {.size = sizeof(state)};
	const pid_t pid = start_child(blocks, 1000);
	struct truehit_hit hit;
	siginfo_t info;
	int status;

	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFSTOPPED(status));
	open_filter(pid, TRUEHIT_STOP, 0);
	cr_assert_eq(truehit_aim(filter, TRUEHIT_EXECUTE, (uintptr_t)place, 0), 0);
	wanted.value[FIRST] = 4;
	wanted.value[SECOND] = 56;
	match(&wanted);
	truehit_arm(filter, TRUEHIT_FOREVER);
	ptrace(PTRACE_CONT, pid, 0, 0);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFSTOPPED(status), "status %x", status);
	cr_expect_eq(WSTOPSIG(status), blocks ? SIGSTOP : SIGTRAP);
	cr_assert_eq(ptrace(PTRACE_GETSIGINFO, pid, 0, &info), 0);
	cr_assert_eq(truehit_whose(truehit, pid, &info, &hit), 1);
	cr_expect_eq(hit.filter, filter);
	cr_expect_eq(hit.addr, (uintptr_t)place);
	cr_expect_eq(hit.tid, pid);
	cr_assert_eq(truehit_save(truehit, pid, &state), 0);
	cr_expect_eq(state.value[SECOND], 56);
	cr_expect_eq(state.value[PC], (uintptr_t)place);
	cr_expect_eq(counts_of(filter).hits, 565);
	cr_expect_eq(counts_of(filter).told, 1);
	truehit_close(filter);
	ptrace(PTRACE_CONT, pid, 0, 0);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect_eq(status, 0, "status %x", status);
}

Test(library_child, stops_at_the_pass_that_matches)
{
	debug_child(false);
	debug_child(true);
}

/* ---- records ---- */

static void count_record(void *count, const struct truehit_hit *hit)
{
	cr_expect_eq(hit->addr, (uintptr_t)place);
	++*(int *)count;
}

/* Without an end to the wait: a record that wakes nobody is a test that does not end.
 */
Test(library_child, a_record_wakes_who_waits)
{
	int status, count = 0, r;
	const pid_t pid = start_child(false, 1000);

	cr_assert_eq(waitpid(pid, &status, 0), pid);
	open_filter(pid, TRUEHIT_RECORD, 0);
	cr_assert_eq(truehit_aim(filter, TRUEHIT_EXECUTE, (uintptr_t)place, 0), 0);
	truehit_arm(filter, TRUEHIT_FOREVER);
	cr_expect_eq(truehit_poll(truehit, 0, count_record, &count), 0);
	ptrace(PTRACE_DETACH, pid, 0, 0);
	while (count < 1000) {
		r = truehit_poll(truehit, -1, count_record, &count);
		cr_assert(r > 0, "poll: %d", r);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect_eq(status, 0, "status %x", status);
	cr_expect_eq(counts_of(filter).lost, 0);
}

/* ---- going on from a hit ---- */

enum { PASSES = 200 };

static pid_t start_filtered_child(long passes, int *status)
{
	const pid_t pid = start_child(false, passes);

	cr_assert_eq(waitpid(pid, status, 0), pid);
	open_filter(pid, TRUEHIT_STOP, 0);
	cr_assert_eq(truehit_aim(filter, TRUEHIT_EXECUTE, (uintptr_t)place, 0), 0);
	truehit_arm(filter, TRUEHIT_FOREVER);
	return pid;
}

/* To the next stop that is one. */
static void resume(pid_t pid, int request, int signal, int *status)
{
	struct truehit_hit hit;
	siginfo_t info;

	do {
		cr_assert_eq(truehit_resume(truehit, pid, request, signal, status), 0);
		cr_assert_eq(waitpid(pid, status, 0), pid);
		signal = 0;
	} while (request == PTRACE_CONT && WIFSTOPPED(*status) &&
		 ptrace(PTRACE_GETSIGINFO, pid, 0, &info) == 0 &&
		 truehit_whose(truehit, pid, &info, &hit) == 2);
}

static uint64_t pc_of(pid_t pid)
{
	struct truehit_match state = {.size = sizeof(state)};

	cr_assert_eq(truehit_save(truehit, pid, &state), 0);
	return state.value[PC];
}

static void must_be_hit(pid_t pid, int status)
{
	struct truehit_hit hit;
	siginfo_t info;

	cr_assert(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP, "status %x",
		  status);
	cr_assert_eq(ptrace(PTRACE_GETSIGINFO, pid, 0, &info), 0);
	cr_expect_eq(truehit_whose(truehit, pid, &info, &hit), 1);
	cr_expect_eq(pc_of(pid), (uintptr_t)place);
}

/* Of @steps in a row each is one instruction, of at most so many bytes, and the filter
 * is as it was. */
static void step_from_hit(pid_t pid, unsigned int steps, int *status)
{
	enum { INSN_MAX = 15 };
	uint64_t before = (uintptr_t)place, after;

	for (unsigned int i = 0; i < steps; i++) {
		resume(pid, PTRACE_SINGLESTEP, 0, status);
		cr_assert(WIFSTOPPED(*status) && WSTOPSIG(*status) == SIGTRAP);
		after = pc_of(pid);
		cr_assert(after > before && after - before <= INSN_MAX,
			  "from %#jx to %#jx", (uintmax_t)before, (uintmax_t)after);
		before = after;
	}
}

/* Each pass is one hit. On aarch64, of a step of ptrace's own from a hit nobody is
 * told.
 */
Test(library_child, steps_from_a_hit)
{
	int status;
	const pid_t pid = start_filtered_child(1000, &status);

	for (unsigned int i = 0; i < PASSES; i++) {
		resume(pid, PTRACE_CONT, 0, &status);
		must_be_hit(pid, status);
		truehit_arm(filter, 0);
		step_from_hit(pid, i % 3, &status);
		truehit_arm(filter, TRUEHIT_FOREVER);
	}
	cr_expect_eq(counts_of(filter).told, PASSES);
	truehit_close(filter);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
}

/* Of a hundred thousand passes, which are all different, a thousand at random. */
Test(library_child, random_passes)
{
	enum { STOPS = 1000, APART = 100 };
	struct truehit_match wanted = {
		.size = sizeof(wanted),
		.registers = UINT64_C(1) << FIRST | UINT64_C(1) << SECOND,
	};
	struct truehit_match state = {.size = sizeof(state)};
	long target = -1;
	int status;
	const pid_t pid = start_filtered_child((long)STOPS * APART, &status);

	srand(1);
	for (unsigned int i = 0; i < STOPS; i++) {
		target += 1 + rand() % (APART - 1);
		wanted.value[FIRST] = (uint64_t)(target % 10);
		wanted.value[SECOND] = (uint64_t)(target / 10);
		match(&wanted);
		resume(pid, PTRACE_CONT, 0, &status);
		must_be_hit(pid, status);
		cr_assert_eq(truehit_save(truehit, pid, &state), 0);
		cr_assert(state.value[FIRST] == wanted.value[FIRST] &&
				  state.value[SECOND] == wanted.value[SECOND],
			  "stop %u: not at pass %ld", i, target);
	}
	cr_expect_eq(counts_of(filter).told, STOPS);
	cr_expect_eq(counts_of(filter).hits, (uint64_t)target + 1);
	truehit_close(filter);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
}

/* The child handles the signal first; it may hit again where it was. */
Test(library_child, signals_at_a_hit)
{
	int status;
	const pid_t pid = start_filtered_child(1000, &status);

	resume(pid, PTRACE_CONT, 0, &status);
	must_be_hit(pid, status);
	for (int request = 0; request < 2; request++) {
		resume(pid, request ? PTRACE_SINGLESTEP : PTRACE_CONT, SIGUSR1,
		       &status);
		if (request)
			resume(pid, PTRACE_CONT, 0, &status);
		must_be_hit(pid, status);
	}
	resume(pid, PTRACE_CONT, SIGUSR2, &status);
	cr_assert(WIFEXITED(status), "status %x", status);
	cr_expect_eq(WEXITSTATUS(status), 2, "signals handled");
	truehit_close(filter);
}
