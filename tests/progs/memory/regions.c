/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * regions ROUNDS [THREADS]: each round writes each byte of an area once, in order,
 * with a new value, and reads all of it; first the main thread for ROUNDS, then one
 * round by each of THREADS threads, half of which are born before the first round.
 * ROUNDS 0: the threads write until they are killed, one round after the other.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

enum { AREA = 64, THREADS_MAX = 64 };

static volatile uint8_t area[AREA] __attribute__((aligned(AREA)));
static volatile uint8_t value;
static volatile uint64_t sum;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t start;
static int endless;

/* Where a client can stop between rounds. */
static __attribute__((noinline)) void round_begins(void)
{
	value++;
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void write_all(void)
{
	for (int i = 0; i < AREA; i++)
		area[i] = value; /* WRITE */
}

static __attribute__((noinline)) void read_all(void)
{
	for (int i = 0; i < AREA; i++)
		sum += area[i]; /* READ */
}

static void one_round(void)
{
	pthread_mutex_lock(&turn);
	round_begins();
	write_all();
	read_all();
	pthread_mutex_unlock(&turn);
}

static void *thread_main(void *early)
{
	if (early)
		pthread_barrier_wait(&start);
	do {
		one_round();
	} while (endless);
	return NULL;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	int nthreads = argc > 2 ? atoi(argv[2]) : 0, early = nthreads / 2;
	pthread_t threads[THREADS_MAX];

	if (nthreads > THREADS_MAX)
		return 1;
	endless = rounds == 0;
	pthread_barrier_init(&start, NULL, (unsigned int)early + 1);
	for (int i = 0; i < early; i++)
		pthread_create(&threads[i], NULL, thread_main, &start);
	for (int i = 0; i < rounds; i++)
		one_round();
	pthread_barrier_wait(&start);
	for (int i = early; i < nthreads; i++)
		pthread_create(&threads[i], NULL, thread_main, NULL);
	for (int i = 0; i < nthreads; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
