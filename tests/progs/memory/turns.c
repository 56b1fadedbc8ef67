/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two counters that N threads take turns at, R each: turns N R CYCLE. Every tenth turn
 * changes the counter's value, which goes up to CYCLE - 1 and round again. Who writes
 * it has its lock, and counts what was done.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { WANTED = 3 };

static struct counter {
	pthread_mutex_t mutex;
	volatile long value;
	long turns, changes, wanted; /* changes to WANTED */
} one = {.mutex = PTHREAD_MUTEX_INITIALIZER},
  other = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static long rounds, cycle;

static void begin(void)
{
	__asm__ volatile("" : : : "memory"); /* BEGIN */
}

static void take_turn(struct counter *counter)
{
	long next;

	pthread_mutex_lock(&counter->mutex);
	next = ++counter->turns / 10 % cycle;
	counter->changes += next != counter->value;
	counter->wanted += next != counter->value && next == WANTED;
	counter->value = next; /* TURN */
	pthread_mutex_unlock(&counter->mutex);
}

static void *take_turns(void *arg)
{
	for (long i = 0; i < rounds; i++) {
		take_turn(&one);
		take_turn(&other);
	}
	return arg;
}

static void tell(const char *name, const struct counter *counter)
{
	printf("%s: %ld turns, %ld changes, %ld to %d\n", name, counter->turns,
	       counter->changes, counter->wanted, WANTED);
}

int main(int argc, char **argv)
{
	int count = argc == 4 ? atoi(argv[1]) : 0;
	pthread_t *thread = calloc((size_t)count + 1, sizeof(*thread));

	if (!thread || count == 0)
		return 2;
	rounds = atol(argv[2]);
	cycle = atol(argv[3]);
	begin();
	for (int i = 0; i < count; i++)
		pthread_create(&thread[i], NULL, take_turns, NULL);
	for (int i = 0; i < count; i++)
		pthread_join(thread[i], NULL);
	free(thread);
	tell("one", &one); /* TOLD */
	tell("other", &other);
	return 0;
}
