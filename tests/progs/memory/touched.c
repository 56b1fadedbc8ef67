/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Variables of all sizes that N threads write, and one that they read, too, R times
 * each: touched N R [forever]. What is written is -1, 0, 1, -1 and so on, one thread at
 * a time.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int8_t byte;
static volatile int16_t half;
static volatile int32_t word;
static volatile int64_t whole;
static struct {
	volatile int64_t first, second;
} pair;
static struct {
	int64_t of[8];
} big;
static long rounds;
static int forever;

static void begin(void)
{
	__asm__ volatile("" : : "r"(&big) : "memory");
}

static void touch(int value)
{
	byte = (int8_t)value;
	half = (int16_t)value;
	word = value;
	whole = value; /* WRITE */
	pair.first = value;
	pair.second = value;
	(void)whole; /* READ */
}

static void *work(void *arg)
{
	for (long i = 0; i < rounds || forever; i++) {
		pthread_mutex_lock(&mutex);
		touch((int)(i % 3) - 1);
		pthread_mutex_unlock(&mutex);
	}
	return arg;
}

int main(int argc, char **argv)
{
	const int count = argc > 2 ? atoi(argv[1]) : 0;
	pthread_t *threads = calloc((size_t)count + 1, sizeof(*threads));

	if (!threads || count == 0)
		return 2;
	rounds = atol(argv[2]);
	forever = argc > 3;
	begin();
	for (int i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	return 0;
}
