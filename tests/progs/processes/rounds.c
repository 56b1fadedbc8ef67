/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Something to attach to that must not notice: rounds THREADS ROUNDS [again [traps]]
 * prints where the functions are that each round of each thread calls, and in the end a
 * sum that depends on every call. `again`: each thread makes its rounds once more until
 * SIGUSR1 comes, and the exit status is 1 if their sum was not always the same.
 * `traps`: a SIGTRAP does not end it, and in the end it tells how many threads had
 * some, and what one of them had at most. A byte that nobody reads is for conditions:
 * `byte` says where, and `handler` where SIGUSR1 is handled.
 */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
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

struct worker {
	pthread_t thread;
	uint64_t start, sum;
	bool differs; /* the same rounds had another sum later */
	int traps;    /* SIGTRAPs */
};

static uint64_t rounds;
static volatile sig_atomic_t again;
static volatile char byte;
static _Thread_local volatile sig_atomic_t traps;

static void on_signal(int signal)
{
	(void)signal;
	again = 0;
}

static void on_trap(int signal)
{
	(void)signal;
	traps++;
}

static uint64_t all_rounds(uint64_t sum)
{
	for (uint64_t round = 0; round < rounds; round++)
		for (int i = 0; i < NPARTS; i++)
			sum = parts[i](round, sum);
	return sum;
}

static void *work(void *arg)
{
	struct worker *worker = arg;

	worker->sum = all_rounds(worker->start);
	while (again)
		worker->differs |= all_rounds(worker->start) != worker->sum;
	worker->traps = traps;
	return NULL;
}

static void tell_traps(const struct worker *workers, long nthreads)
{
	int some = 0, most = 0;

	for (long i = 0; i < nthreads; i++) {
		some += workers[i].traps > 0;
		most = workers[i].traps > most ? workers[i].traps : most;
	}
	printf("%d threads with traps, at most %d in one\n", some, most);
}

static void tell_places(void)
{
	for (int i = 0; i < NPARTS; i++)
		printf("part %p\n", (void *)(uintptr_t)parts[i]);
	printf("byte %p\nhandler %p\n", (void *)(uintptr_t)&byte,
	       (void *)(uintptr_t)on_signal);
}

int main(int argc, char **argv)
{
	long nthreads = argc > 2 ? atol(argv[1]) : 0;
	struct worker workers[THREADS_MAX] = {0};
	uint64_t total = 0;
	int differs = 0;

	if (nthreads < 1 || nthreads > THREADS_MAX)
		return 1;
	rounds = strtoull(argv[2], NULL, 0);
	again = argc > 3;
	signal(SIGUSR1, on_signal);
	if (argc > 4)
		signal(SIGTRAP, on_trap);
	tell_places();
	for (long i = 0; i < nthreads; i++) {
		workers[i].start = (uint64_t)i + 1;
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
			return 1;
	}
	puts("begun");
	fflush(stdout);
	for (long i = 0; i < nthreads; i++) {
		pthread_join(workers[i].thread, NULL);
		total = total * 3 + workers[i].sum;
		differs |= workers[i].differs;
	}
	if (argc > 4)
		tell_traps(workers, nthreads);
	printf("sum %016" PRIx64 "\n", total);
	return differs;
}
