/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What run control can be asked to tell of.
 *   events calls N      system calls of main's own
 *   events blocked N    a thread blocked in read() while main calls tick() N times
 *   events threads N    threads, one after another
 *   events leader N     main ends by pthread_exit, a thread lives on for N / 10 s
 *   events exit N       the process ends while N threads live
 *   events exec N       one of N threads executes `events threads 1`
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile int ticks, reads, tenths;
static int ends[2];

static void tick(void)
{
	ticks++; /* TICK */
}

static void begin(void)
{
	ticks = 0; /* BEGIN */
}

static int call_often(int count)
{
	int right = 0;

	begin();
	for (int i = 0; i < count; i++)
		right += syscall(SYS_getppid) == getppid();
	printf("calls %d\n", right);
	return 0;
}

static void *reader(void *arg)
{
	char byte = 0;

	reads += (int)read(ends[0], &byte, 1);
	return arg;
}

static int tick_while_blocked(int count)
{
	pthread_t thread;

	if (pipe(ends) < 0 || pthread_create(&thread, NULL, reader, NULL) != 0)
		return 1;
	usleep(100000);
	begin();
	for (int i = 0; i < count; i++)
		tick();
	if (write(ends[1], "x", 1) != 1)
		return 1;
	pthread_join(thread, NULL);
	printf("ticks %d reads %d\n", ticks, reads);
	return 0;
}

static void *work(void *arg)
{
	tick();
	return arg;
}

static int make_threads(int count)
{
	begin();
	for (int i = 0; i < count; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, work, NULL) != 0)
			return 1;
		pthread_join(thread, NULL);
	}
	printf("threads %d\n", ticks);
	return 0;
}

static void *outlive(void *arg)
{
	usleep(100000 * tenths);
	for (int i = 0; i < 3; i++)
		tick();
	exit(arg ? 3 : 4);
}

static int end_leader(int count)
{
	pthread_t thread;

	begin();
	tenths = count;
	if (pthread_create(&thread, NULL, outlive, ends) != 0)
		return 1;
	pthread_exit(NULL);
}

static void *rest(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void *execute(void *arg)
{
	execl("/proc/self/exe", "events", "threads", "1", (char *)NULL);
	return arg;
}

/* The last of the threads does this. */
static int start_threads(int count, void *(*last)(void *arg))
{
	pthread_t thread;

	begin();
	for (int i = 0; i < count; i++)
		if (pthread_create(&thread, NULL, i < count - 1 ? rest : last, NULL) !=
		    0)
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	int count = argc > 2 ? atoi(argv[2]) : 1;

	setvbuf(stdout, NULL, _IONBF, 0);
	if (argc > 1 && strcmp(argv[1], "calls") == 0)
		return call_often(count);
	if (argc > 1 && strcmp(argv[1], "blocked") == 0)
		return tick_while_blocked(count);
	if (argc > 1 && strcmp(argv[1], "threads") == 0)
		return make_threads(count);
	if (argc > 1 && strcmp(argv[1], "leader") == 0)
		return end_leader(count);
	if (argc > 1 && strcmp(argv[1], "exit") == 0)
		return start_threads(count, rest);
	if (argc > 1 && strcmp(argv[1], "exec") == 0 &&
	    start_threads(count, execute) == 0)
		rest(NULL);
	return 2;
}
