/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that run the same function: kin KIND ROUNDS. The child calls work() ROUNDS
 * times, and so does its parent afterwards. The child is made by
 *   fork     it stops itself after its calls
 *   vfork    it uses its parent's memory
 *   waited   clone() as vfork does, but with a copy of the memory
 *   memory   clone() with the memory, and nothing else, shared: both run at a time
 *   exec     fork, and then this program anew
 *   execs    no child: the program replaces itself, ROUNDS times
 *   relay    the same, from its second thread
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int rounds;
static volatile int worked, go;

__attribute__((noinline)) void work(int round, int child);
void work(int round, int child)
{
	worked += round + child;
}

static int run(int child)
{
	for (int round = 0; round < rounds; round++)
		work(round, child);
	return 7;
}

static int beside(void *unused)
{
	(void)unused;
	go = 1;
	return run(1);
}

static pid_t start(const char *kind, char **argv)
{
	static char stack[65536] __attribute__((aligned(16)));
	pid_t pid;

	if (strcmp(kind, "memory") == 0)
		return clone(beside, stack + sizeof(stack), CLONE_VM, NULL);
	if (strcmp(kind, "waited") == 0)
		return clone(beside, stack + sizeof(stack), CLONE_VFORK | SIGCHLD,
			     NULL);
	/* A vfork child may do no more than that. */
	pid = strcmp(kind, "vfork") == 0 ? vfork() : fork();
	if (pid != 0)
		return pid;
	if (strcmp(kind, "exec") == 0)
		execl(argv[0], argv[0], "leaf", argv[2], (char *)NULL);
	run(1);
	if (strcmp(kind, "fork") == 0)
		raise(SIGSTOP);
	_exit(7);
}

static void *again(void *argv)
{
	char **arguments = argv, left[16];

	snprintf(left, sizeof(left), "%d", rounds - 1);
	execl(arguments[0], arguments[0], arguments[1], left, (char *)NULL);
	return NULL;
}

static int replace(char **argv)
{
	pthread_t thread;

	work(rounds, 0);
	if (rounds == 0)
		return 0;
	if (strcmp(argv[1], "execs") == 0)
		again(argv);
	else if (pthread_create(&thread, NULL, again, argv) == 0)
		pthread_join(thread, NULL);
	return 1;
}

int main(int argc, char **argv)
{
	const char *kind = argc == 3 ? argv[1] : "";
	int status = 0;
	pid_t pid;

	rounds = argc == 3 ? atoi(argv[2]) : 0;
	if (strcmp(kind, "leaf") == 0)
		return run(1);
	if (strcmp(kind, "execs") == 0 || strcmp(kind, "relay") == 0)
		return replace(argv);
	pid = start(kind, argv);
	printf("child %d\n", (int)pid);
	fflush(stdout);
	while (strcmp(kind, "memory") == 0 && !go)
		;
	run(0);
	waitpid(pid, &status, __WALL);
	printf("status %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	return 0;
}
