/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * 200 functions: many THREADS ROUNDS. Each thread calls all of them in each round. What
 * it prints in the end depends on every call.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define PART(n)                                                                        \
	__attribute__((noinline)) static uint64_t part##n(int round, int thread)       \
	{                                                                              \
		return (uint64_t)(round + 1) * (1##n - 900) * (uint64_t)thread;        \
	}
#define TEN(name, n)                                                                   \
	name(n##0) name(n##1) name(n##2) name(n##3) name(n##4) name(n##5) name(n##6)   \
		name(n##7) name(n##8) name(n##9)
#define ALL(name)                                                                      \
	TEN(name, 00)                                                                  \
	TEN(name, 01)                                                                  \
	TEN(name, 02)                                                                  \
	TEN(name, 03)                                                                  \
	TEN(name, 04)                                                                  \
	TEN(name, 05)                                                                  \
	TEN(name, 06)                                                                  \
	TEN(name, 07)                                                                  \
	TEN(name, 08)                                                                  \
	TEN(name, 09)                                                                  \
	TEN(name, 10)                                                                  \
	TEN(name, 11)                                                                  \
	TEN(name, 12)                                                                  \
	TEN(name, 13)                                                                  \
	TEN(name, 14)                                                                  \
	TEN(name, 15) TEN(name, 16) TEN(name, 17) TEN(name, 18) TEN(name, 19)
ALL(PART)

#define NAME(n) part##n,
static uint64_t (*const parts[])(int round, int thread) = {ALL(NAME)};

enum { NPARTS = sizeof(parts) / sizeof(parts[0]), THREADS_MAX = 16 };

static int rounds;
static uint64_t sums[THREADS_MAX];

static void *work(void *arg)
{
	int thread = (int)(intptr_t)arg;

	for (int round = 0; round < rounds; round++)
		for (int i = 0; i < NPARTS; i++)
			sums[thread] += parts[i](round, thread);
	return NULL;
}

__attribute__((noinline)) static void done(void)
{
	__asm__ volatile("" : : : "memory");
}

int main(int argc, char **argv)
{
	int nthreads = argc == 3 ? atoi(argv[1]) : 0;
	pthread_t threads[THREADS_MAX];
	uint64_t total = 0;

	if (nthreads < 1 || nthreads > THREADS_MAX)
		return 1;
	rounds = atoi(argv[2]);
	for (int i = 1; i < nthreads; i++)
		pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i);
	work(NULL);
	for (int i = 1; i < nthreads; i++)
		pthread_join(threads[i], NULL);
	done();
	for (int i = 0; i < nthreads; i++)
		total += sums[i];
	printf("total %llu\n", (unsigned long long)total);
	return 0;
}
