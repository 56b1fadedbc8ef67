/* SPDX-License-Identifier: BSD-2-Clause */
/* libtruehit's filters in a traced child. */
#include <criterion/criterion.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/library/filters.h"

static void end(void)
{
	truehit_destroy(truehit);
}

TestSuite(library_child, .init = start_filters, .fini = end, .timeout = 120);

static pid_t start_child(bool blocks)
{
	const pid_t pid = fork();
	sigset_t set;

	if (pid != 0)
		return pid;
	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	sigprocmask(blocks ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
	ptrace(PTRACE_TRACEME, 0, 0, 0);
	raise(SIGSTOP);
	pass(1000);
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
	const pid_t pid = start_child(blocks);
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
