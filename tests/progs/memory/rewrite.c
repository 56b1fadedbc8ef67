/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes that change nothing, and some that do. What ARGUMENT names:
 *   loop N      writes the same N times, then something else
 *   hidden      changes by a system call, and writes after that
 *   owned W...  a local of the main thread becomes each W; those with a sign, "+5", are
 *               written by another thread
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int flag = 7;

static void begin(void)
{
	__asm__ volatile("" : : : "memory"); /* BEGIN */
}

static void loop(long count)
{
	begin();
	for (long i = 0; i < count; i++)
		flag = 7;
	flag = 8; /* CHANGE */
	for (long i = 0; i < 3; i++)
		flag = 8;
	printf("%ld times\n", count); /* DONE */
}

/* Memory through a file is no access to it by its address. */
static void change_hidden(int mem, int value)
{
	if (pwrite(mem, &value, sizeof(value), (off_t)(unsigned long)&flag) < 0)
		perror("pwrite");
}

static void hidden(void)
{
	int mem = open("/proc/self/mem", O_RDWR);

	begin();
	flag = 1; /* 7 -> 1 */
	change_hidden(mem, 5);
	flag = 5; /* 1 -> 5 */
	flag = 5;
	change_hidden(mem, 6);
	flag = 5; /* what it was for whoever has seen no 6 */
	change_hidden(mem, 6);
	begin();
	flag = 5; /* the same; for a watchpoint that was set in between, 6 -> 5 */
	flag = 5;
	begin();
	flag = 9;
}

struct store {
	volatile int *to;
	int value;
};

static void *do_store(void *arg)
{
	const struct store *store = arg;

	*store->to = store->value;
	return NULL;
}

static void store_by_other(volatile int *to, int value)
{
	struct store store = {to, value};
	pthread_t thread;

	pthread_create(&thread, NULL, do_store, &store);
	pthread_join(thread, NULL);
}

static void owned(char **writes)
{
	volatile int mine = 7;

	for (; *writes; writes++) { /* OWNED */
		if (**writes == '+')
			store_by_other(&mine, atoi(*writes));
		else
			mine = atoi(*writes);
	}
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	if (argc == 3 && strcmp(argv[1], "loop") == 0)
		loop(atol(argv[2]));
	else if (argc == 2 && strcmp(argv[1], "hidden") == 0)
		hidden();
	else if (argc > 1 && strcmp(argv[1], "owned") == 0)
		owned(argv + 2);
	else
		return 2;
	return 0;
}
