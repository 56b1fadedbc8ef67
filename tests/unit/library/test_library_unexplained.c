/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Debug exceptions that say wrongly what they are about, as virtual machines have them:
 * by signals as they come of such, as no test can have the kernel raise one.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/library/filters.h"

static const uint8_t code[] = {0xf1, 0x90}; /* int1, which raises its own; nop */
static volatile long watched;
static struct truehit_hit hit;

static void begin(void)
{
	start_filters();
	if (truehit_register(truehit, "rip") < 0)
		cr_skip_test("they are x86's");
	open_filter(0, TRUEHIT_STOP, 0);
}

static void end(void)
{
	truehit_destroy(truehit);
}

TestSuite(library_unexplained, .init = begin, .fini = end, .timeout = 300);

static int whose_at(const void *pc)
{
	siginfo_t info = {.si_signo = SIGTRAP, .si_code = TRAP_BRKPT};

	info.si_addr = (void *)(uintptr_t)pc;
	return truehit_whose(truehit, gettid(), &info, &hit);
}

static void aim_at_data(void)
{
	cr_assert_eq(truehit_aim(filter, TRUEHIT_WRITE, (uintptr_t)&watched,
				 sizeof(watched)),
		     0);
}

Test(library_unexplained, an_instruction_will_be_hit_again)
{
	cr_assert_eq(truehit_aim(filter, TRUEHIT_EXECUTE, (uintptr_t)code, 0), 0);
	truehit_arm(filter, TRUEHIT_FOREVER);
	cr_expect_eq(whose_at(code), 2);
	cr_expect_eq(counts_of(filter).hits, 0);
}

Test(library_unexplained, data_may_have_been_accessed)
{
	aim_at_data();
	cr_expect_eq(whose_at(code), 2, "it is not armed");
	truehit_arm(filter, 1);
	cr_expect_eq(whose_at(code), 1);
	cr_expect(hit.filter == filter && hit.maybe && hit.tid == gettid());
	cr_expect_eq(hit.addr, (uintptr_t)&watched);
	cr_expect_eq(counts_of(filter).hits, 1);
	cr_expect_eq(counts_of(filter).told, 1);
	cr_expect_eq(counts_of(filter).maybes, 1);
}

Test(library_unexplained, an_own_exception_is_somebody_elses)
{
	aim_at_data();
	truehit_arm(filter, TRUEHIT_FOREVER);
	cr_expect_eq(whose_at(code + 1), 0);
}

/* By which the kernel tells of it, wherever it has been stepped. */
Test(library_unexplained, a_step_over_a_system_call_is_the_callers)
{
	static const uint8_t call[] = {0x0f, 0x05, 0x90}; /* syscall; nop */

	aim_at_data();
	truehit_arm(filter, TRUEHIT_FOREVER);
	cr_expect_eq(whose_at(call + 2), 0);
	cr_expect_eq(counts_of(filter).hits, 0);
}

/* ... and in truth, of a child that writes nothing that is watched. */
static pid_t start_caller(void)
{
	const pid_t pid = fork();

	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		raise(SIGSTOP);
		for (;;)
			syscall(SYS_getppid);
	}
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	return pid;
}

/* Was it a step over a system call? */
static bool step(pid_t pid)
{
	siginfo_t info = {0};
	int status;

	cr_assert_eq(truehit_resume(truehit, pid, PTRACE_SINGLESTEP, 0, &status), 0);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
	cr_assert_eq(ptrace(PTRACE_GETSIGINFO, pid, 0, &info), 0);
	cr_expect_eq(truehit_whose(truehit, pid, &info, &hit), 0);
	return info.si_code == TRAP_BRKPT;
}

Test(library_unexplained, steps_over_system_calls)
{
	const pid_t pid = start_caller();
	unsigned int calls = 0;

	truehit_close(filter);
	open_filter(pid, TRUEHIT_STOP, 0);
	aim_at_data();
	truehit_arm(filter, TRUEHIT_FOREVER);
	for (int i = 0; i < 100; i++)
		calls += step(pid);
	cr_expect_gt(calls, 0);
	cr_expect_eq(counts_of(filter).hits, 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
