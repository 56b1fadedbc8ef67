/* SPDX-License-Identifier: BSD-2-Clause */
/* Sends itself SIGUSR1 five times and counts what its handler saw. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile int seen, seen2;

static void handler(int signo)
{
	if (signo == SIGUSR1)
		seen++; /* HANDLER */
	else
		seen2++;
}

int main(void)
{
	signal(SIGUSR1, handler);
	signal(SIGUSR2, handler);
	for (int i = 0; i < 5; i++)
		raise(SIGUSR1);				/* RAISE */
	printf("SIGUSR1 %d SIGUSR2 %d\n", seen, seen2); /* DONE */
	return 0;
}
