/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Something to attach to: attach FILE [THREADS]. Each thread counts; the counts
 * are in FILE, so that they can be watched from outside.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile unsigned long *counts; /* gdb 13 scales a typedef by 0 */

static void tick(long id)
{
	counts[id]++; /* TICK */
	usleep(1000);
}

static void *worker(void *arg)
{
	for (;;)
		tick((long)arg);
	return NULL;
}

int main(int argc, char **argv)
{
	long nthreads = argc > 2 ? atol(argv[2]) : 1;
	int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT, 0666) : -1;
	pthread_t thread;

	if (fd < 0 || ftruncate(fd, 4096) < 0)
		return 1;
	counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (counts == MAP_FAILED)
		return 1;
	for (long i = 1; i < nthreads; i++)
		if (pthread_create(&thread, NULL, worker, (void *)i))
			return 1;
	worker(0);
	return 0;
}
