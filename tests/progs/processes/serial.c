/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * serial [THREADS [TURNS]]: threads take turns, one at a time, until there were so many
 * in all: before each, a global variable says how many there were.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long turns, limit;

static void turn(void)
{
	turns++; /* TURN */
}

static void *worker(void *arg)
{
	for (int over = 0; !over;) {
		pthread_mutex_lock(&mutex);
		over = turns >= limit;
		if (!over)
			turn();
		pthread_mutex_unlock(&mutex);
	}
	return arg;
}

int main(int argc, char **argv)
{
	const int count = argc > 1 ? atoi(argv[1]) : 16;
	pthread_t *threads = calloc(count, sizeof(*threads));

	limit = argc > 2 ? atol(argv[2]) : 1000;
	for (int i = 1; i < count; i++)
		if (pthread_create(&threads[i], NULL, worker, NULL))
			return 1;
	worker(NULL);
	for (int i = 1; i < count; i++)
		pthread_join(threads[i], NULL);
	printf("%ld turns\n", turns);
	free(threads);
	return 0;
}
