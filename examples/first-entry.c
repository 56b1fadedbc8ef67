/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which thread first enters a function? A filter in the own process, armed for one hit:
 * however many threads come at the same moment, one of them gets a signal.
 *
 *   cc first-entry.c $(pkg-config --cflags --libs truehit) -pthread && ./a.out
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <truehit.h>

enum { THREADS = 8, ROUNDS = 1000 };

static struct truehit *truehit;
static volatile sig_atomic_t signals;
static volatile pid_t first;

static __attribute__((noinline)) void routine(void)
{
	__asm__ volatile("" : : : "memory");
}

static void on_trap(int number, siginfo_t *info, void *context)
{
	struct truehit_hit hit;
	int whose;

	(void)number;
	(void)context;
	whose = truehit_whose(truehit, gettid(), info, &hit);
	if (whose == 0)
		_exit(3); /* somebody else's */
	if (whose == 2)
		return; /* the hit is still to come */
	signals++;
	first = hit.tid;
}

static void *work(void *name)
{
	*(pid_t *)name = gettid();
	for (int i = 0; i < ROUNDS; i++)
		routine();
	return NULL;
}

static int fail(int err)
{
	fprintf(stderr, "first-entry: %s: %s\n", strerror(-err), truehit_why(truehit));
	return err == -EPERM || err == -EACCES || err == -ENODEV ? 77 : 1;
}

int main(void)
{
	const struct truehit_options options = {.size = sizeof(options),
						.deed = TRUEHIT_STOP};
	struct sigaction action = {.sa_flags = SA_SIGINFO, .sa_sigaction = on_trap};
	struct truehit_counts counts = {.size = sizeof(counts)};
	struct truehit_filter *filter;
	pthread_t threads[THREADS];
	pid_t names[THREADS];
	int err = truehit_create(&truehit), winner = 0;

	if (err < 0 || (err = truehit_open(truehit, 0, &options, &filter)) < 0)
		return fail(err);
	sigaction(SIGTRAP, &action, NULL);
	err = truehit_aim(filter, TRUEHIT_EXECUTE, (uintptr_t)routine, 0);
	if (err < 0)
		return fail(err);
	truehit_arm(filter, 1);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, &names[i]))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < THREADS; i++)
		if (names[i] == first)
			winner = i + 1;
	truehit_read(filter, &counts);
	printf("thread %d of %d was first; %d signal, %llu hit told\n", winner, THREADS,
	       (int)signals, (unsigned long long)counts.told);
	truehit_destroy(truehit);
	return signals == 1 && counts.told == 1 && winner ? 0 : 1;
}
