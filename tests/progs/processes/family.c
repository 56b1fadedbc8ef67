/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A family of processes: family fork|vfork|threads|beside COUNT. Each round makes a
 * child, which calls work(round) and exits with round % 100 (vfork: it runs this
 * program anew, as `family leaf ROUND`); the parent waits and then calls work(round),
 * too. threads: four threads do so at once. beside: as vfork, while another thread
 * spins. The exit status is 0 if every child ended as it should, else 1.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4 };

static const char *program;
static int count;
static volatile int failures;
volatile int is_child, worked;

__attribute__((noinline)) void work(int round);
void work(int round)
{
	worked += round >= 0; /* WORK */
}

static void expect(pid_t pid, int round)
{
	int status = 0;

	if (waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	    WEXITSTATUS(status) == round % 100)
		return;
	__atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);
	fprintf(stderr, "child of round %d: status 0x%x\n", round,
		(unsigned int)status);
}

static void fork_round(int round)
{
	pid_t pid = fork();

	if (pid == 0) {
		is_child = 1;
		work(round);
		_exit(round % 100);
	}
	expect(pid, round);
	work(round);
}

static void vfork_round(int round)
{
	char number[16];
	pid_t pid;

	snprintf(number, sizeof(number), "%d", round);
	pid = vfork();
	if (pid == 0) {
		execl(program, program, "leaf", number, (char *)NULL);
		_exit(127);
	}
	expect(pid, round);
	work(round);
}

static void *fork_rounds(void *arg)
{
	for (int i = 0; i < count; i++)
		fork_round(i);
	return arg;
}

static void thread_rounds(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, fork_rounds, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void *spin(void *arg)
{
	for (;;)
		__asm__ volatile("" : : : "memory");
	return arg;
}

static void vfork_rounds(void)
{
	for (int i = 0; i < count; i++)
		vfork_round(i);
}

static void rounds_beside(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, spin, NULL);
	vfork_rounds();
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "fork";

	program = argv[0];
	count = argc > 2 ? atoi(argv[2]) : 1;
	if (strcmp(mode, "leaf") == 0) {
		is_child = 1;
		work(count);
		return count % 100;
	}
	if (strcmp(mode, "threads") == 0)
		thread_rounds();
	else if (strcmp(mode, "vfork") == 0)
		vfork_rounds();
	else if (strcmp(mode, "beside") == 0)
		rounds_beside();
	else
		fork_rounds(NULL);
	printf("worked %d failures %d\n", worked, failures);
	return failures > 0;
}
