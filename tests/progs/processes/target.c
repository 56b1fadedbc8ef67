/* SPDX-License-Identifier: BSD-2-Clause */
/* A program to be traced. The first argument says what it does; see the table. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void *nothing(void *arg)
{
	return arg;
}

static void *sleep_for_ever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static int do_exit(char **args)
{
	return args[0] ? atoi(args[0]) : 0;
}

/* Is each of the other arguments equal to the one before? */
static int do_same(char **args)
{
	for (; args[0] && args[1]; args++)
		if (strcmp(args[0], args[1]) != 0)
			return 1;
	return 0;
}

/* N threads that end at once, then N that are still there at the end. */
static int do_threads(char **args)
{
	int n = atoi(args[0]);
	pthread_t thread;

	for (int i = 0; i < n; i++) {
		if (pthread_create(&thread, NULL, nothing, NULL) != 0)
			return 1;
		pthread_join(thread, NULL);
	}
	for (int i = 0; i < n; i++)
		if (pthread_create(&thread, NULL, sleep_for_ever, NULL) != 0)
			return 1;
	return 0;
}

static int do_spin(char **args)
{
	volatile unsigned long n = 0;

	(void)args;
	for (;;)
		n++;
	return 0;
}

static volatile sig_atomic_t handled;

static void on_signal(int number)
{
	handled = number;
}

/* Raises a signal; 0 if its handler ran. */
static int do_raise(char **args)
{
	int number = atoi(args[0]);

	signal(number, on_signal);
	raise(number);
	return handled != number;
}

/* Raises SIGUSR1, which is to be kept from it, when it is ready, and spins until a
 * signal of this number is handled. */
static int do_wait_signal(char **args)
{
	int number = atoi(args[0]);

	signal(number, on_signal);
	raise(SIGUSR1);
	while (handled != number)
		;
	return 0;
}

/* Stops itself (job control) and ends when it is continued. */
static int do_stop(char **args)
{
	(void)args;
	raise(SIGSTOP);
	return 4;
}

/* Spins with a trap of its own, as the kernel would raise it, blocked and pending. */
static int do_blocked_trap(char **args)
{
	siginfo_t info = {.si_signo = SIGTRAP, .si_code = TRAP_TRACE};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), SIGTRAP, &info) != 0)
		return 1;
	raise(SIGUSR1);
	return do_spin(args);
}

static int do_die(char **args)
{
	raise(atoi(args[0]));
	return 0;
}

static void *exit_later(void *arg)
{
	usleep(50000);
	exit(7);
	return arg;
}

static int do_leader_exits(char **args)
{
	pthread_t thread;

	(void)args;
	if (pthread_create(&thread, NULL, exit_later, NULL) != 0)
		return 1;
	pthread_exit(NULL);
}

static void *raise_after(void *arg)
{
	pthread_join(*(pthread_t *)arg, NULL);
	raise(SIGUSR1);
	return sleep_for_ever(NULL);
}

/* The other thread raises SIGUSR1 when the leader has gone. */
static int do_leader_leaves(char **args)
{
	static pthread_t leader;
	pthread_t thread;

	(void)args;
	leader = pthread_self();
	if (pthread_create(&thread, NULL, raise_after, &leader) != 0)
		return 1;
	pthread_exit(NULL);
}

static void *exec_now(void *arg)
{
	char *argv[] = {arg, (char *)"exit", (char *)"5", NULL};

	execv(arg, argv);
	exit(1);
}

static int do_thread_exec(char **args)
{
	pthread_t idle, thread;

	if (pthread_create(&idle, NULL, sleep_for_ever, NULL) != 0 ||
	    pthread_create(&thread, NULL, exec_now, args[-2]) != 0)
		return 1;
	sleep_for_ever(NULL);
	return 1;
}

static int wait_child(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return 1;
	return WIFEXITED(status) && WEXITSTATUS(status) == 9 ? 0 : 1;
}

static int do_fork(char **args)
{
	pid_t child = fork();

	(void)args;
	if (child == 0)
		_exit(9);
	return wait_child(child);
}

static int do_vfork(char **args)
{
	pid_t child = vfork();

	(void)args;
	if (child == 0)
		_exit(9);
	return wait_child(child);
}

static const struct {
	const char *name;
	int (*run)(char **args);
} actions[] = {
	{"exit", do_exit},
	{"same", do_same},
	{"threads", do_threads},
	{"spin", do_spin},
	{"raise", do_raise},
	{"wait-signal", do_wait_signal},
	{"stop", do_stop},
	{"blocked-trap", do_blocked_trap},
	{"die", do_die},
	{"leader-exits", do_leader_exits},
	{"leader-leaves", do_leader_leaves},
	{"thread-exec", do_thread_exec},
	{"fork", do_fork},
	{"vfork", do_vfork},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(actions) / sizeof(actions[0]); i++)
		if (strcmp(argv[1], actions[i].name) == 0)
			return actions[i].run(argv + 2);
	fprintf(stderr, "usage: target ACTION [ARGUMENT...]\n");
	return 2;
}
