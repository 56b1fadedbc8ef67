/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * threads [THREADS [ITERATIONS]]: each thread runs the same loop and counts how
 * often a condition held; the sum is printed.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int iterations;
static pthread_barrier_t barrier;

static void body(int id, int i, long *expected)
{
	*expected += (i * 7 + id) % 500 == 3; /* BODY */
}

static void *worker(void *arg)
{
	int id = (int)(long)arg;
	long expected = 0;

	pthread_barrier_wait(&barrier);
	for (int i = 0; i < iterations; i++)
		body(id, i, &expected);
	return (void *)expected;
}

int main(int argc, char **argv)
{
	int nthreads = argc > 1 ? atoi(argv[1]) : 32;
	pthread_t *threads = calloc(nthreads, sizeof(*threads));
	long expected = 0;

	iterations = argc > 2 ? atoi(argv[2]) : 1000;
	pthread_barrier_init(&barrier, NULL, nthreads);
	for (int i = 0; i < nthreads; i++)
		if (pthread_create(&threads[i], NULL, worker, (void *)(long)i))
			return 1;
	for (int i = 0; i < nthreads; i++) {
		void *result;

		pthread_join(threads[i], &result);
		expected += (long)result;
	}
	printf("expected %ld stops\n", expected); /* DONE */
	free(threads);
	return 0;
}
