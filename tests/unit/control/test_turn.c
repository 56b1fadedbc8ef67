/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gdbstub/control/turn.h"

Test(turn, not_again_before_its_time)
{
	struct turn turn = {.not_before = INT64_MAX};

	cr_expect_not(turn_give(&turn));
	turn = (struct turn){0};
	cr_expect(turn_give(&turn));
}

/* One that computes keeps the processor for a slice of milliseconds. */
static pid_t start_computing(void)
{
	const pid_t pid = fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (volatile unsigned int i = 0;; i++)
		;
}

Test(turn, not_to_one_that_keeps_it, .timeout = 60)
{
	cpu_set_t one;
	struct turn turn = {0};
	pid_t computing;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	cr_assert_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	computing = start_computing();
	while (turn_give(&turn))
		;
	cr_expect_gt(turn.not_before, 0);
	kill(computing, SIGKILL);
	waitpid(computing, NULL, 0);
}
