/* SPDX-License-Identifier: BSD-2-Clause */
/* The loops by which counters are tried execute what is said of them: against single
 * steps, of which each is counted as until-count counts it. */
#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arch/arch.h"
#include "arch/pmu.h"
#include "gdbstub/inferior/registers.h"

enum { TURNS = 7, STEPS_MAX = 1000, CODE_MAX = 16 };

static struct inferior inferior;
static struct thread thread = {.inferior = &inferior};

static int wait_signal(void)
{
	int status;

	cr_assert_eq(waitpid(thread.tid, &status, __WALL), thread.tid);
	cr_assert(WIFSTOPPED(status));
	return WSTOPSIG(status);
}

static void start(const struct counter_loop *loop)
{
	inferior.arch = arch_native();
	cr_assert_null(inferior.arch->init());
	thread.tid = inferior.pid = fork();
	if (thread.tid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
			_exit(1);
		loop->run(TURNS);
		_exit(1);
	}
	cr_assert_gt(thread.tid, 0);
	cr_assert_eq(wait_signal(), SIGTRAP);
}

static uint64_t pc(void)
{
	uint64_t value;

	cr_assert_eq(thread_get_pc(&thread, &value), 0);
	return value;
}

/* The child has our memory. */
static const uint8_t *code(void)
{
	return (const uint8_t *)(uintptr_t)pc(); /* NOLINT(performance-no-int-to-ptr) */
}

/* One step; the signal that it ends by. */
static int step(uint64_t *counts)
{
	const struct insn_branch branch = inferior.arch->branch(code(), CODE_MAX);
	const uint64_t before = pc();
	bool taken = branch.kind == BRANCH_ALWAYS;
	int signal;

	cr_assert_eq(ptrace(PTRACE_SINGLESTEP, thread.tid, NULL, NULL), 0);
	signal = wait_signal();
	/* On aarch64 the step after one over a system call is none. */
	if (signal != SIGTRAP || (pc() == before && branch.kind == BRANCH_NONE))
		return signal;
	taken |= branch.kind == BRANCH_CONDITIONAL && pc() != before + branch.len;
	counts[RETIRED_INSTRUCTIONS]++;
	counts[RETIRED_BRANCHES] += branch.kind != BRANCH_NONE;
	counts[RETIRED_CONDITIONAL] += branch.kind == BRANCH_CONDITIONAL;
	counts[RETIRED_TAKEN] += taken;
	return signal;
}

static bool is_at_trap(void)
{
	return memcmp(code(), inferior.arch->breakpoint_insn,
		      inferior.arch->breakpoint_len) == 0;
}

static void check(const struct counter_loop *loop)
{
	uint64_t counts[RETIRED_EVENTS] = {0};
	int signal = SIGTRAP;

	start(loop);
	cr_assert_eq(
		thread_set_pc(&thread, pc() + inferior.arch->breakpoint_len -
					       inferior.arch->breakpoint_pc_advance),
		0);
	for (int i = 0; i < STEPS_MAX && signal == SIGTRAP && !is_at_trap(); i++)
		signal = step(counts);
	cr_assert_eq(signal, loop->faults ? SIGSEGV : SIGTRAP, "%s: %d", loop->name,
		     signal);
	for (unsigned int i = 0; i < RETIRED_EVENTS; i++)
		cr_assert_eq((int64_t)counts[i], loop->turn[i] * TURNS + loop->else_[i],
			     "%s: event %u: %ju", loop->name, i, (uintmax_t)counts[i]);
	kill(thread.tid, SIGKILL);
	waitpid(thread.tid, NULL, __WALL);
}

Test(pmu_loops, execute_what_is_said_of_them)
{
	const struct counter_ops *ops = arch_native()->counters;

	for (unsigned int i = 0; i < ops->loops; i++) {
		/* Steps would make its turns begin anew, for ever. */
		if (ops->loop[i].again[RETIRED_INSTRUCTIONS] == 0)
			check(&ops->loop[i]);
	}
}
