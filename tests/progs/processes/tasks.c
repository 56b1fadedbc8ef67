/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tasks [wait | leave | exec | child]: tasks that share the program's memory but are no
 * threads of its process: clone(2) with CLONE_VM, without CLONE_THREAD. Each of them
 * makes a thread of its own. All run the same loop. wait: each task then waits for a
 * SIGUSR1; leave: the program itself ends before them; exec: each task then runs
 * another program; child: tasks tell of their end by SIGCHLD, as a process from fork(2)
 * does.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	TASKS = 3,
	ROUNDS = 40,
	STACK = 65536,
	SHARED = CLONE_VM | CLONE_FS | CLONE_FILES
};

static char stacks[2 * TASKS][STACK] __attribute__((aligned(16)));
static atomic_int calls, ended, handled, wait_for_signal, execs;

/* No thread-local storage here: all of them have the leader's. */
__attribute__((noinline)) static void body(long id, long i)
{
	(void)id;
	(void)i;
	atomic_fetch_add(&calls, 1); /* BODY */
}

static void loop(long id)
{
	for (long i = 0; i < ROUNDS; i++)
		body(id, i);
}

static int thread_main(void *arg)
{
	loop((long)arg);
	atomic_fetch_add(&ended, 1);
	return 0;
}

static int task_main(void *arg)
{
	long id = (long)arg;

	clone(thread_main, stacks[id + TASKS] + STACK,
	      SHARED | CLONE_THREAD | CLONE_SIGHAND, (void *)(id + TASKS));
	loop(id);
	while (wait_for_signal && !handled)
		sched_yield(); /* WAIT */
	atomic_fetch_add(&ended, 1);
	while (execs && ended < 2 * TASKS)
		sched_yield();
	if (execs)
		execl("/bin/true", "true", (char *)NULL);
	return 0;
}

static void on_signal(int number)
{
	(void)number;
	atomic_fetch_add(&handled, 1);
}

int main(int argc, char **argv)
{
	int leave = argc > 1 && strcmp(argv[1], "leave") == 0;
	int end = argc > 1 && strcmp(argv[1], "child") == 0 ? SIGCHLD : 0;

	wait_for_signal = argc > 1 && strcmp(argv[1], "wait") == 0;
	execs = argc > 1 && strcmp(argv[1], "exec") == 0;
	signal(SIGUSR1, on_signal);
	for (long id = 0; id < TASKS; id++)
		if (clone(task_main, stacks[id] + STACK, SHARED | end, (void *)id) < 0)
			return 1;
	if (leave)
		return 0;
	while (ended < 2 * TASKS)
		sched_yield();
	while (waitpid(-1, NULL, __WALL) > 0)
		;
	printf("%d calls\n", calls); /* DONE */
	return 0;
}
