/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What grows: growth THREADS MIB. So many threads that wait, 4,000 functions that
 * nobody calls (place0000 and so on), so much memory, and a main thread that goes round
 * once `go` is set.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PLACE(n)                                                                       \
	__attribute__((noinline, used)) static int place##n(int x)                     \
	{                                                                              \
		return x + 1##n;                                                       \
	}
#define TEN(n)                                                                         \
	PLACE(n##0)                                                                    \
	PLACE(n##1)                                                                    \
	PLACE(n##2)                                                                    \
	PLACE(n##3)                                                                    \
	PLACE(n##4)                                                                    \
	PLACE(n##5)                                                                    \
	PLACE(n##6)                                                                    \
	PLACE(n##7)                                                                    \
	PLACE(n##8)                                                                    \
	PLACE(n##9)
#define HUNDRED(n)                                                                     \
	TEN(n##0)                                                                      \
	TEN(n##1)                                                                      \
	TEN(n##2) TEN(n##3) TEN(n##4) TEN(n##5) TEN(n##6) TEN(n##7) TEN(n##8) TEN(n##9)
#define THOUSAND(n)                                                                    \
	HUNDRED(n##0)                                                                  \
	HUNDRED(n##1)                                                                  \
	HUNDRED(n##2)                                                                  \
	HUNDRED(n##3)                                                                  \
	HUNDRED(n##4)                                                                  \
	HUNDRED(n##5)                                                                  \
	HUNDRED(n##6)                                                                  \
	HUNDRED(n##7)                                                                  \
	HUNDRED(n##8)                                                                  \
	HUNDRED(n##9)
THOUSAND(0)
THOUSAND(1)
THOUSAND(2)
THOUSAND(3)

static volatile int go, ready;
static unsigned char *volatile memory;

static void *wait_for_ever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

__attribute__((noinline)) static void turn(int i)
{
	ready = i; /* TURN */
	ready++;
}

static void deep(int depth)
{
	if (depth > 0)
		deep(depth - 1);
	else
		turn(1);
	ready++; /* no tail call */
}

int main(int argc, char **argv)
{
	int nthreads = argc > 1 ? atoi(argv[1]) : 0;
	size_t size = (argc > 2 ? strtoul(argv[2], NULL, 10) : 1) << 20;
	uint64_t random = 1;
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (int i = 0; i < nthreads; i++)
		if (pthread_create(&thread, &attr, wait_for_ever, NULL) != 0)
			return 1;
	memory = malloc(size);
	if (!memory)
		return 1;
	for (size_t i = 0; i < size; i++) {
		random = random * 6364136223846793005 + 1442695040888963407;
		memory[i] = (unsigned char)(random >> 56);
	}
	puts("ready");
	fflush(stdout);
	while (!go)
		usleep(1000);
	for (int i = 0;; i++)
		deep(40);
}
