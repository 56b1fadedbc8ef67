/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Something to attach to whose text comes and goes: renew FILE exec|dlopen TIMES
 * THREADS. So many times it executes itself anew, or loads libgreet.so, which is beside
 * it, and unloads it. Each time so many threads call hit(1), hit(2), ..., with dlopen
 * also the library's greet(), and live no longer. What it counts is in FILE, to be
 * compared with what a debugger saw: in point() nobody calls anything. Begins when FILE
 * says so. Every second exec is by a thread that is not the leader; the library is
 * loaded at the same address some times, and then at another one.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CALLS = 256, EVERY = 128, THREADS_MAX = 16, STAY = 3 };

/* The file; test_storm_pads.py knows the order. */
static struct counts {
	atomic_ulong go;
	atomic_ulong hit_at, point_at, greet_at; /* addresses */
	atomic_ulong calls, trues;	  /* of hit(), those of multiples of EVERY */
	atomic_ulong greets, greet_trues; /* of greet() */
	atomic_ulong turns, errors;
} * counts;

static int (*greet)(int x);

__attribute__((noinline)) static void hit(unsigned long i)
{
	__asm__ volatile("" : : "r"(i) : "memory");
	atomic_fetch_add(&counts->calls, 1);
	if (i % EVERY == 0)
		atomic_fetch_add(&counts->trues, 1);
}

/* What comes next: 1 nobody calls anything, 2 the library is there, 3 it goes. */
__attribute__((noinline)) static void point(unsigned long what)
{
	__asm__ volatile("" : : "r"(what) : "memory");
}

static void call_greet(int i)
{
	if (greet(i) != i + 100)
		atomic_fetch_add(&counts->errors, 1);
	atomic_fetch_add(&counts->greets, 1);
	if (i % EVERY == 0)
		atomic_fetch_add(&counts->greet_trues, 1);
}

static void *work(void *arg)
{
	for (int i = 1; i <= CALLS; i++) {
		hit((unsigned long)i);
		if (greet)
			call_greet(i);
	}
	return arg;
}

static void work_all(long nthreads)
{
	pthread_t threads[THREADS_MAX];

	for (long i = 0; i < nthreads; i++)
		if (pthread_create(&threads[i], NULL, work, NULL) != 0)
			abort();
	for (long i = 0; i < nthreads; i++)
		pthread_join(threads[i], NULL);
}

/* Something lies where the library was. */
static void fill(void *addr)
{
	char *page = (char *)((unsigned long)addr & ~4095UL);

	if (mmap(page, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != page)
		atomic_fetch_add(&counts->errors, 1);
}

static void load(char *program, unsigned long times, long nthreads)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/libgreet.so", dirname(program));
	for (unsigned long turn = 1; turn <= times; turn++) {
		void *library = dlopen(path, RTLD_NOW), *symbol;

		symbol = library ? dlsym(library, "greet") : NULL;
		if (!symbol)
			abort();
		memcpy(&greet, &symbol, sizeof(greet));
		atomic_store(&counts->greet_at, (unsigned long)symbol);
		point(2);
		work_all(nthreads);
		point(3);
		greet = NULL;
		dlclose(library);
		if (turn % STAY == 0)
			fill(symbol);
		work_all(1);
		atomic_store(&counts->turns, turn);
	}
}

static char **arguments;

static void *execute(void *arg)
{
	execv("/proc/self/exe", arguments);
	abort();
	return arg;
}

static void renew(unsigned long times, long nthreads)
{
	pthread_t thread;

	work_all(nthreads);
	if (atomic_fetch_add(&counts->turns, 1) + 1 >= times)
		return;
	point(1);
	if (atomic_load(&counts->turns) % 2 != 0)
		execute(NULL);
	if (pthread_create(&thread, NULL, execute, NULL) != 0)
		abort();
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	int fd = argc > 4 ? open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
	unsigned long times = argc > 4 ? strtoul(argv[3], NULL, 10) : 0;
	long nthreads = argc > 4 ? atol(argv[4]) : 0;

	if (fd < 0 || ftruncate(fd, 4096) < 0 || nthreads < 1 || nthreads > THREADS_MAX)
		return 1;
	counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (counts == MAP_FAILED)
		return 1;
	arguments = argv;
	atomic_store(&counts->point_at, (unsigned long)point);
	atomic_store(&counts->hit_at, (unsigned long)hit);
	while (!atomic_load(&counts->go))
		usleep(1000);
	if (strcmp(argv[2], "exec") == 0)
		renew(times, nthreads);
	else
		load(argv[0], times, nthreads);
	point(1);
	return atomic_load(&counts->errors) ? 1 : 0;
}
