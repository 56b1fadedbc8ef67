/* SPDX-License-Identifier: BSD-2-Clause */
/* Stops itself as job control would: jobs TIMES [THREADS], exit status 7. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_barrier_t barrier;

static void *wait_for_ever(void *arg)
{
	pthread_barrier_wait(&barrier);
	for (;;)
		pause();
	return arg;
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 1,
	    threads = argc > 2 ? atoi(argv[2]) : 1;
	pthread_t thread;

	pthread_barrier_init(&barrier, NULL, (unsigned int)threads);
	for (int i = 1; i < threads; i++)
		if (pthread_create(&thread, NULL, wait_for_ever, NULL))
			return 1;
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < times; i++)
		raise(SIGSTOP);
	return 7;
}
