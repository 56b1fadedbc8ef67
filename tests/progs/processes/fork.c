/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Forks while breakpoints are in place: the child runs the same code and must
 * find no trap in it. fork [vfork]
 */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int calls;

static void body(void)
{
	calls++; /* BODY */
}

int main(int argc, char **argv)
{
	pid_t pid;
	int status = 0;

	(void)argv;
	body();
	pid = argc > 1 ? vfork() : fork();
	if (pid == 0) {
		if (argc == 1)
			for (int i = 0; i < 10; i++)
				body();
		_exit(argc == 1 ? calls : 11);
	}
	waitpid(pid, &status, 0);
	body();
	if (WIFEXITED(status))
		printf("child exited %d\n", WEXITSTATUS(status));
	else
		printf("child killed by signal %d\n", WTERMSIG(status));
	printf("calls %d\n", calls);
	return 0;
}
