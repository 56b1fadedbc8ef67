/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tls [LIBRARY]: threads with storage of their own in the program, and in a library
 * that is loaded when they run already, whose storage one of them uses.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 3 };

__thread int own = 1000;
__thread char filler[4096] = {1};
__thread int last = 1;
pthread_t handles[THREADS];
int *addresses[THREADS];

static pthread_barrier_t barrier;
static int *(*touch)(int);

static void stopped(void)
{
	__asm__ volatile("" ::: "memory"); /* STOPPED */
}

static void *worker(void *arg)
{
	int id = (int)(long)arg;

	own = 1000 + id;
	last = 2000 + id;
	handles[id] = pthread_self();
	addresses[id] = &own;
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	if (id == 1 && touch)
		*touch(0) = 3000 + id;
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return filler;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (long i = 1; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, worker, (void *)i))
			return 1;
	handles[0] = pthread_self();
	addresses[0] = &own;
	pthread_barrier_wait(&barrier);
#ifndef STATIC
	if (argc > 1) {
		void *library = dlopen(argv[1], RTLD_NOW);

		if (!library) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		*(void **)&touch = dlsym(library, "tls_touch");
	}
#else
	(void)argc;
	(void)argv;
#endif
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	stopped();
	pthread_barrier_wait(&barrier);
	for (int i = 1; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
