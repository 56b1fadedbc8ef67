/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What else a session does: session WHAT COUNT, where WHAT is
 *
 * - loop: so many turns, each of which changes a variable
 * - list: a list of so many nodes, and then turns without end
 * - threads, forks: so many made, one after the other
 * - crowd: so many threads make as many turns each as a line says that comes
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct node {
	struct node *next;
	long value;
};

static volatile struct node *volatile first;
static volatile int turned;

__attribute__((noinline)) static void turn(int i)
{
	turned = i; /* TURN */
}

static void *nothing(void *arg)
{
	return arg;
}

static void make_list(long count)
{
	for (long i = 0; i < count; i++) {
		struct node *node = malloc(sizeof(*node));

		if (!node)
			exit(1);
		*node = (struct node){(struct node *)first, i};
		first = node;
	}
}

static void make_threads(long count)
{
	pthread_t thread;

	for (long i = 0; i < count; i++) {
		if (pthread_create(&thread, NULL, nothing, NULL))
			exit(1);
		pthread_join(thread, NULL);
	}
}

static void *make_turns(void *arg)
{
	for (int i = 0; i < *(int *)arg; i++)
		turn(i);
	return NULL;
}

static void be_crowd(long count)
{
	pthread_t *threads = calloc((size_t)count, sizeof(*threads));
	int turns;

	puts("ready");
	fflush(stdout);
	if (!threads || scanf("%d", &turns) != 1)
		exit(1);
	for (long i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, make_turns, &turns))
			exit(1);
	for (long i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	puts("done");
	free(threads);
}

static void make_forks(long count)
{
	for (long i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			exit(1);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "loop";
	long count = argc > 2 ? atol(argv[2]) : 1000;

	turn(-1);
	if (strcmp(what, "list") == 0)
		make_list(count);
	else if (strcmp(what, "threads") == 0)
		make_threads(count);
	else if (strcmp(what, "forks") == 0)
		make_forks(count);
	else if (strcmp(what, "crowd") == 0)
		be_crowd(count);
	else
		for (long i = 0; i < count; i++)
			turn((int)i); /* LOOP */
	while (strcmp(what, "list") == 0)
		turn(0);
	return 0;
}
