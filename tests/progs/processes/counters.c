/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counters [THREADS]: each thread counts on its own, without end. `leave` ends the
 * program with the status 7.
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS_MAX = 64 };

volatile long counters[THREADS_MAX];
volatile int leave;

static void tick(long id)
{
	counters[id]++; /* TICK */
}

static void *worker(void *arg)
{
	while (!leave) {
		tick((long)arg);
		usleep(200);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 4;
	pthread_t threads[THREADS_MAX];

	if (count > THREADS_MAX)
		return 1;
	for (long i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, worker, (void *)i))
			return 1;
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return 7;
}
