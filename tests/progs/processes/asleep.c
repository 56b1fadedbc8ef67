/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread waits for its vfork child, in the kernel, where nothing but that child's end
 * wakes it. The child sleeps until it is killed, or two minutes, with a look around ten
 * times a second. Ctrl-C does not end it.
 *
 *   asleep [THREADS [SLEEPERS]]   so many other threads run on meanwhile; so many
 * threads have a child each, at the same time
 *
 * Each prints "child PID" when it sleeps, and "after" when it is awake again.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile unsigned long turns, wakings;
static pthread_barrier_t barrier;

static __attribute__((noinline)) void turn(void)
{
	turns++; /* turn */
}

static __attribute__((noinline)) void after(void)
{
	wakings++; /* after */
}

/* It is the parent's memory. */
static __attribute__((noinline)) void in_child(void)
{
	__asm__ volatile("" ::: "memory");
}

static void *run(void *arg)
{
	for (;;) {
		turn();
		usleep(1000);
	}
	return arg;
}

static void *sleep_for_child(void *arg)
{
	char text[32];

	pthread_barrier_wait(&barrier);
	if (vfork() == 0) {
		int len = snprintf(text, sizeof(text), "child %d\n", getpid());

		if (write(STDOUT_FILENO, text, (size_t)len) != len)
			_exit(2);
		for (int i = 0; i < 1200; i++) {
			in_child();
			usleep(100000);
		}
		_exit(0);
	}
	after();
	if (write(STDOUT_FILENO, "after\n", 6) != 6)
		_exit(2);
	return arg;
}

static pthread_t start(void *(*function)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, function, NULL) != 0)
		exit(2);
	return thread;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 0;
	int sleepers = argc > 2 ? atoi(argv[2]) : 1;
	pthread_t sleeper[8];

	if (sleepers < 1 || sleepers > 8)
		return 2;
	setvbuf(stdout, NULL, _IONBF, 0);
	signal(SIGINT, SIG_IGN);
	printf("turn 0x%lx after 0x%lx in_child 0x%lx wakings 0x%lx\n",
	       (unsigned long)(uintptr_t)turn, (unsigned long)(uintptr_t)after,
	       (unsigned long)(uintptr_t)in_child, (unsigned long)(uintptr_t)&wakings);
	pthread_barrier_init(&barrier, NULL, (unsigned int)sleepers);
	for (int i = 0; i < threads; i++)
		start(run);
	for (int i = 1; i < sleepers; i++)
		sleeper[i] = start(sleep_for_child);
	sleep_for_child(NULL);
	for (int i = 1; i < sleepers; i++)
		pthread_join(sleeper[i], NULL);
	printf("done\n");
	return 0;
}
