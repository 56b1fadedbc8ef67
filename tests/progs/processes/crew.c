/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What lldb is tried with: crew WHAT [ARGUMENT].
 *
 *   calls           functions to step into and out of, a callback of libc's
 *   threads N       N named threads, which all come to the same place at once
 *   watch           writes, of which every second one changes nothing
 *   signals         signals with and without handlers
 *   echo            a line from standard input to standard output, and one to stderr
 *   sleep           threads that sleep until somebody ends them
 *   fork, exec      a child; another program in its place
 *   exit N, abort   ends
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CREW_MAX = 16, WRITES = 6 };

struct point {
	int x, y;
};

static volatile int counter, watched, handled;
static volatile double ratio = 0.5;
static struct point origin = {3, 4};
static const char *const greeting = "hello crew";
static pthread_barrier_t barrier;

static int add(int a, int b)
{
	int sum = a + b; /* ADD */

	counter += sum;
	return sum;
}

static double half(double value)
{
	return value * ratio; /* HALF */
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b; /* COMPARE */
}

static int fold(int depth)
{
	if (depth == 0)
		return add(1, 2); /* DEEP */
	return fold(depth - 1) + 1;
}

static int calls(void)
{
	int numbers[] = {3, 1, 2};
	int first = add(2, 3);	    /* FIRST */
	int second = add(first, 4); /* SECOND */

	qsort(numbers, 3, sizeof(numbers[0]), compare);		  /* SORT */
	first += fold(3);					  /* FOLD */
	return second + (int)half(first) + numbers[0] + origin.x; /* LAST */
}

static void meet(int id)
{
	counter += id; /* MEET */
}

static void *member(void *arg)
{
	char name[16];
	int id = (int)(long)arg;

	snprintf(name, sizeof(name), id == 1 ? "crew:1;x" : "crew-%d", id);
	pthread_setname_np(pthread_self(), name);
	pthread_barrier_wait(&barrier);
	meet(id);
	pthread_barrier_wait(&barrier);
	return NULL;
}

static int threads(int count)
{
	pthread_t crew[CREW_MAX];

	pthread_barrier_init(&barrier, NULL, (unsigned int)count + 1);
	for (long i = 0; i < count; i++)
		pthread_create(&crew[i], NULL, member, (void *)i);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < count; i++)
		pthread_join(crew[i], NULL);
	return counter; /* JOINED */
}

static int watch(void)
{
	for (int i = 0; i < WRITES; i++)
		watched = i / 2; /* WRITE */
	return watched;		 /* WRITTEN */
}

static void on_signal(int signal)
{
	handled += signal; /* HANDLER */
}

static int signals(void)
{
	signal(SIGUSR1, on_signal);
	signal(SIGUSR2, on_signal);
	raise(SIGUSR1); /* USR1 */
	raise(SIGUSR2); /* USR2 */
	return handled; /* HANDLED */
}

static int echo(void)
{
	char line[80] = "";

	if (!fgets(line, sizeof(line), stdin))
		return 1;
	printf("out %s", line);
	fflush(stdout);
	fprintf(stderr, "err %s", line);
	printf("%s %s\n", getenv("CREW") ? getenv("CREW") : "none", getcwd(line, 80));
	fflush(stdout);
	return 0; /* ECHOED */
}

static void *sleeper(void *arg)
{
	for (;;)
		sleep(1000);
	return arg;
}

static int sleep_all(void)
{
	pthread_t thread;

	for (int i = 0; i < 2; i++)
		pthread_create(&thread, NULL, sleeper, NULL);
	puts("asleep");
	fflush(stdout);
	sleeper(NULL);
	return 0;
}

static int fork_child(void)
{
	pid_t child = fork(); /* FORK */
	int status = 0;

	if (child == 0)
		_exit(add(40, 1)); /* CHILD */
	waitpid(child, &status, 0);
	return WEXITSTATUS(status); /* REAPED */
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "calls";
	int argument = argc > 2 ? atoi(argv[2]) : 0;

	if (strcmp(what, "calls") == 0) /* MAIN */
		return calls();
	if (strcmp(what, "threads") == 0 && argument <= CREW_MAX)
		return threads(argument);
	if (strcmp(what, "watch") == 0)
		return watch();
	if (strcmp(what, "signals") == 0)
		return signals();
	if (strcmp(what, "echo") == 0)
		return echo();
	if (strcmp(what, "sleep") == 0)
		return sleep_all();
	if (strcmp(what, "fork") == 0)
		return fork_child();
	if (strcmp(what, "exec") == 0)
		execl(argv[0], argv[0], "exit", "9", NULL);
	if (strcmp(what, "abort") == 0)
		abort();
	return strcmp(what, "exit") == 0 ? argument : (int)strlen(greeting);
}
