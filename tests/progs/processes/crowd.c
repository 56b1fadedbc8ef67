/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Steps in a crowd: crowd THREADS TURNS. So many threads sleep; one more makes so many
 * turns, which count its calls, and then lets the first one go, which waits for that in
 * a loop.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile int released;
static volatile unsigned long waited, calls;

static void *sleep_on(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void call(unsigned long i)
{
	calls += i % 2; /* CALL */
}

static void *hold(void *arg)
{
	const unsigned long turns = *(unsigned long *)arg;

	for (unsigned long i = 0; i < turns; i++)
		call(i);
	released = 1;
	return NULL;
}

static void wait_for_it(void)
{
	while (!released && ++waited) /* WAIT */
		;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 16;
	unsigned long turns = argc > 2 ? strtoul(argv[2], NULL, 0) : 1000000;
	pthread_t thread;

	for (int i = 0; i < threads; i++)
		if (pthread_create(&thread, NULL, sleep_on, NULL))
			return 1;
	if (pthread_create(&thread, NULL, hold, &turns))
		return 1;
	wait_for_it();
	pthread_join(thread, NULL); /* DONE */
	printf("%lu\n", calls);
	return 0;
}
