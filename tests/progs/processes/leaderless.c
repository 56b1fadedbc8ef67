/* SPDX-License-Identifier: BSD-2-Clause */
/* A program whose first thread ends at once, and whose second one works. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 100 };

static volatile int sum;

static __attribute__((noinline)) void body(int i)
{
	sum += i; /* BODY */
}

static void *work(void *leader)
{
	pthread_join(*(pthread_t *)leader, NULL);
	for (int i = 0; i < ROUNDS; i++)
		body(i);
	printf("sum %d\n", sum);
	exit(0);
}

int main(void)
{
	static pthread_t leader;
	pthread_t thread;

	leader = pthread_self();
	if (pthread_create(&thread, NULL, work, &leader) != 0)
		return 1;
	pthread_exit(NULL);
}
