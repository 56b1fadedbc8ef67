/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls of functions that do next to nothing, measured by itself:
 * hits CALLS [FUNCTIONS [THREADS]]: so many calls of f000 and those after it. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static volatile long last;

#define TEN(X, n)                                                                      \
	X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7) X(n##8) X(n##9)
#define HUNDRED(X, n)                                                                  \
	TEN(X, n##0)                                                                   \
	TEN(X, n##1)                                                                   \
	TEN(X, n##2)                                                                   \
	TEN(X, n##3)                                                                   \
	TEN(X, n##4) TEN(X, n##5) TEN(X, n##6) TEN(X, n##7) TEN(X, n##8) TEN(X, n##9)
#define FUNCTION(name)                                                                 \
	static void f##name(long i)                                                    \
	{                                                                              \
		last = i;                                                              \
	}
#define POINTER(name) f##name,

HUNDRED(FUNCTION, 0)
HUNDRED(FUNCTION, 1)

static void (*const functions[])(long) = {HUNDRED(POINTER, 0) HUNDRED(POINTER, 1)};

enum { FUNCTIONS_MAX = sizeof(functions) / sizeof(*functions), THREADS_MAX = 64 };

static long rounds, nfunctions; /* of each thread */
static atomic_long ready;	/* threads that wait for the start */
static pthread_barrier_t start, end;

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e9 + now.tv_nsec;
}

static void *call(void *arg)
{
	ready++;
	pthread_barrier_wait(&start);
	for (long i = 0; i < rounds; i++)
		for (long f = 0; f < nfunctions; f++)
			functions[f](i); /* CALL */
	pthread_barrier_wait(&end);
	return arg;
}

static long argument(int argc, char **argv, int number, long most)
{
	long value = number < argc ? atol(argv[number]) : 1;

	return value < 1 ? 1 : value > most ? most : value;
}

int main(int argc, char **argv)
{
	long calls = argument(argc, argv, 1, 1000000000);
	long nthreads = argument(argc, argv, 3, THREADS_MAX);
	pthread_t threads[THREADS_MAX];
	double ns;

	nfunctions = argument(argc, argv, 2, FUNCTIONS_MAX);
	rounds = calls / nfunctions / nthreads;
	calls = rounds * nfunctions * nthreads;
	pthread_barrier_init(&start, NULL, (unsigned int)nthreads);
	pthread_barrier_init(&end, NULL, (unsigned int)nthreads);
	for (long i = 1; i < nthreads; i++)
		pthread_create(&threads[i], NULL, call, NULL);
	while (ready < nthreads - 1)
		usleep(1000);
	ns = now_ns();
	call(NULL);
	ns = now_ns() - ns;
	for (long i = 1; i < nthreads; i++)
		pthread_join(threads[i], NULL);
	printf("%ld iterations, %.1f ns per iteration\n", calls,
	       calls ? ns / calls : 0.0);
	return 0;
}
