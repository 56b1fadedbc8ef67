/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Something to attach to that must not notice: rounds THREADS ROUNDS prints where the
 * functions are that each round of each thread calls, and in the end a sum that depends
 * on every call.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define PART(n)                                                                        \
	__attribute__((noinline)) static uint64_t part##n(uint64_t round,              \
							  uint64_t sum)                \
	{                                                                              \
		return (sum ^ round) * UINT64_C(0x9e3779b97f4a7c15) +                  \
		       (sum >> (7 + n));                                               \
	}
PART(0)
PART(1)
PART(2)
PART(3)
PART(4)
PART(5)
PART(6)
PART(7)
PART(8)
PART(9)

static uint64_t (*const parts[])(uint64_t round, uint64_t sum) = {
	part0, part1, part2, part3, part4, part5, part6, part7, part8, part9};

enum { NPARTS = sizeof(parts) / sizeof(parts[0]), THREADS_MAX = 64 };

static uint64_t rounds;

static void *work(void *arg)
{
	uint64_t *sum = arg;

	for (uint64_t round = 0; round < rounds; round++)
		for (int i = 0; i < NPARTS; i++)
			*sum = parts[i](round, *sum);
	return NULL;
}

int main(int argc, char **argv)
{
	long nthreads = argc > 2 ? atol(argv[1]) : 0;
	uint64_t sums[THREADS_MAX], total = 0;
	pthread_t threads[THREADS_MAX];

	if (nthreads < 1 || nthreads > THREADS_MAX)
		return 1;
	rounds = strtoull(argv[2], NULL, 0);
	for (int i = 0; i < NPARTS; i++)
		printf("part %p\n", (void *)(uintptr_t)parts[i]);
	for (long i = 0; i < nthreads; i++) {
		sums[i] = (uint64_t)i + 1;
		if (pthread_create(&threads[i], NULL, work, &sums[i]) != 0)
			return 1;
	}
	puts("begun");
	fflush(stdout);
	for (long i = 0; i < nthreads; i++) {
		pthread_join(threads[i], NULL);
		total = total * 3 + sums[i];
	}
	printf("sum %016" PRIx64 "\n", total);
	return 0;
}
