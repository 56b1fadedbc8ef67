/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Comes to the same function from all that comes and goes: churn ROUNDS. In each round
 * from new threads, a fork's child, a vfork's child, and through a library that is
 * loaded and unloaded, which is beside it; now and then it executes itself anew.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, CALLS = 5, ROUNDS_OF_IMAGE = 10 };

static char directory[PATH_MAX];
static long sum;

static long work(long i)
{
	long twice = 2 * i; /* WORK */

	return twice + 1;
}

static void *thread(void *arg)
{
	long *result = arg;

	for (long i = 0; i < CALLS; i++)
		*result += work(i);
	return NULL;
}

static void from_threads(void)
{
	pthread_t threads[THREADS];
	long results[THREADS] = {0};

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, thread, &results[i]);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		sum += results[i];
	}
}

static void from_child(pid_t pid)
{
	int status = 0;

	if (pid == 0)
		_exit(work(10) == 21 && work(11) == 23 ? 0 : 1);
	waitpid(pid, &status, 0);
	if (status != 0)
		printf("a child ended by %#x\n", status);
}

static void from_library(void)
{
	char path[PATH_MAX + 32];
	void *library;
	int (*greet)(int x);

	snprintf(path, sizeof(path), "%s/libgreet.so", directory);
	library = dlopen(path, RTLD_NOW);
	greet = library ? dlsym(library, "greet") : NULL;
	if (!greet)
		exit(1);
	for (int i = 0; i < CALLS; i++)
		sum += greet(i);
	dlclose(library);
}

static void execute_anew(char **argv, long left)
{
	char rounds[32], so_far[32];
	char *next[] = {argv[0], rounds, so_far, NULL};

	snprintf(rounds, sizeof(rounds), "%ld", left);
	snprintf(so_far, sizeof(so_far), "%ld", sum);
	execv("/proc/self/exe", next);
	perror("execv");
	exit(1);
}

int main(int argc, char **argv)
{
	const long rounds = argc > 1 ? atol(argv[1]) : 30;
	char path[PATH_MAX];

	sum = argc > 2 ? atol(argv[2]) : 0;
	snprintf(path, sizeof(path), "%s", argv[0]);
	snprintf(directory, sizeof(directory), "%s", dirname(path));
	for (long i = 0; i < rounds; i++) {
		if (i == ROUNDS_OF_IMAGE)
			execute_anew(argv, rounds - i);
		from_threads();
		from_child(fork());
		from_child(vfork());
		from_library();
	}
	printf("sum %ld\n", sum); /* END */
	return 0;
}
