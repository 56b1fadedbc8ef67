/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * relay CHAINS: threads that live for an instant. In each chain one waits for the end
 * of the one before, makes the next, and ends. It goes on until it is killed.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((noinline)) static void passed(void)
{
	__asm__ volatile("" : : : "memory");
}

static void start(void *(*body)(void *), void *arg)
{
	pthread_t thread;

	/* Too many at once: those that have just ended make room. */
	while (pthread_create(&thread, NULL, body, arg) != 0)
		usleep(1000);
}

static void *runner(void *before)
{
	if (before)
		pthread_join((pthread_t)(uintptr_t)before, NULL);
	start(runner, (void *)(uintptr_t)pthread_self());
	passed();
	return NULL;
}

int main(int argc, char **argv)
{
	int chains = argc == 2 ? atoi(argv[1]) : 0;

	if (chains < 1)
		return 1;
	alarm(600);
	for (int i = 0; i < chains; i++)
		start(runner, NULL);
	puts("begun");
	fflush(stdout);
	for (;;)
		pause();
}
