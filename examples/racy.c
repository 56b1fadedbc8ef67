/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that count their turns twice, once with a lock and once without: what
 * race-sample.c is to find. Prints both counts; the one without is mostly too small.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long locked, unlocked;

static void count_locked(void)
{
	pthread_mutex_lock(&lock);
	locked = locked + 1;
	pthread_mutex_unlock(&lock);
}

static void count_unlocked(void)
{
	unlocked = unlocked + 1;
}

static void *work(void *turns)
{
	for (long i = *(long *)turns; i > 0; i--) {
		count_locked();
		count_unlocked();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long turns = argc > 1 ? atol(argv[1]) : 3000000;
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, &turns) != 0)
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%ld with the lock, %ld without\n", locked, unlocked);
	return locked == THREADS * turns ? 0 : 1;
}
