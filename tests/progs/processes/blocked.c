/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs a loop with SIGTRAP blocked (and everything else that can be). */
#include <signal.h>
#include <stdio.h>

static void body(int i)
{
	volatile int x = i; /* BODY */

	(void)x;
}

int main(void)
{
	sigset_t all, pending;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	for (int i = 0; i < 1000; i++)
		body(i);
	sigpending(&pending);
	printf("SIGTRAP %s\n", sigismember(&pending, SIGTRAP) ? "pending" : "clean");
	printf("SIGSTOP %s\n", sigismember(&pending, SIGSTOP) ? "pending" : "clean");
	return 0;
}
