/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the kernel takes to stop a crowd of threads that sleep, in each way that there
 * is, and to let them go on; medians, by thread:
 *
 * halts THREADS [DIRECTORY]
 *
 *   interrupt   PTRACE_INTERRUPT for each, then waitpid(2) for each: truehit's way
 *   one by one  the same, one thread after the other
 *   any         the same, but waitpid(-1): who stops is looked for among all
 *   group stop  one SIGSTOP for the process; its parent hears of it, and what undoes
 *               it, SIGCONT, is seen by the program
 *   freezer     of cgroups (v2), in a new one in DIRECTORY. A frozen thread is not
 *               stopped for its tracer: to ask for its registers, it has to be woken
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	ROUNDS = 21,
	PAUSE = 20000, /* us */
	STACK = 1 << 16,
	LIMIT = 300, /* s, for all: what never stops or freezes ends it */
};

/* In memory that the program and its tracer share. */
struct crowd {
	atomic_int ready;
	pid_t tids[];
};

static int count;
static struct crowd *crowd;
static pid_t crowd_pid;
static const char *directory; /* of cgroups, or NULL */

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "halts: %s: %s\n", what, strerror(errno));
	if (crowd_pid > 0)
		kill(crowd_pid, SIGKILL);
	exit(1);
}

/* ---- the program ---- */

static void *sleep_on(void *unused)
{
	crowd->tids[atomic_fetch_add(&crowd->ready, 1)] = gettid();
	for (;;)
		pause();
	return unused;
}

static _Noreturn void run_crowd(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	for (int i = 1; i < count; i++)
		if (pthread_create(&thread, &attr, sleep_on, NULL) != 0)
			_exit(1);
	sleep_on(NULL);
	_exit(0);
}

static void start_crowd(void)
{
	crowd->ready = 0;
	crowd_pid = fork();
	if (crowd_pid < 0)
		fail("fork");
	if (crowd_pid == 0)
		run_crowd();
	while (crowd->ready < count) {
		if (waitpid(crowd_pid, NULL, WNOHANG) != 0)
			fail("so many threads cannot be made");
		usleep(PAUSE);
	}
	for (int i = 0; i < count; i++)
		if (ptrace(PTRACE_SEIZE, crowd->tids[i], NULL, NULL) < 0)
			fail("PTRACE_SEIZE");
}

static void end_crowd(void)
{
	kill(crowd_pid, SIGKILL);
	while (waitpid(-1, NULL, __WALL) > 0)
		;
}

/* ---- the ways ---- */

static void interrupt_thread(pid_t tid)
{
	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0)
		fail("PTRACE_INTERRUPT");
}

static void wait_for(pid_t tid)
{
	int status;

	if (waitpid(tid, &status, __WALL) < 0 || !WIFSTOPPED(status))
		fail("waitpid");
}

static void interrupt_all(void)
{
	for (int i = 0; i < count; i++)
		interrupt_thread(crowd->tids[i]);
}

static void halt_each(void)
{
	interrupt_all();
	for (int i = 0; i < count; i++)
		wait_for(crowd->tids[i]);
}

static void halt_one_by_one(void)
{
	for (int i = 0; i < count; i++) {
		interrupt_thread(crowd->tids[i]);
		wait_for(crowd->tids[i]);
	}
}

static void halt_any(void)
{
	interrupt_all();
	for (int i = 0; i < count; i++)
		wait_for(-1);
}

static void go_on(void)
{
	for (int i = 0; i < count; i++)
		ptrace(PTRACE_CONT, crowd->tids[i], NULL, NULL);
}

/* The signal is delivered to the first thread (kernel/signal.c, complete_signal), and
 * then all stop. */
static void halt_group(void)
{
	kill(crowd_pid, SIGSTOP);
	wait_for(crowd_pid);
	ptrace(PTRACE_CONT, crowd_pid, NULL, (void *)SIGSTOP);
	for (int i = 0; i < count; i++)
		wait_for(crowd->tids[i]);
}

/* Each tells once more, of the end of the group's stop, and one of SIGCONT. */
static void end_group_stop(void)
{
	pid_t tid;

	kill(crowd_pid, SIGCONT);
	go_on();
	for (int i = 0; i < 3; i++) {
		usleep(PAUSE);
		while ((tid = waitpid(-1, NULL, __WALL | WNOHANG)) > 0)
			ptrace(PTRACE_CONT, tid, NULL, NULL);
	}
}

static int open_control(const char *name, int flags)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/truehit-halts/%s", directory, name);
	fd = open(path, flags | O_CLOEXEC);
	if (fd < 0)
		fail(path);
	return fd;
}

static void write_control(const char *name, long value)
{
	const int fd = open_control(name, O_WRONLY);

	if (dprintf(fd, "%ld", value) < 0)
		fail(name);
	close(fd);
}

static void freeze(void)
{
	const int events = open_control("cgroup.events", O_RDONLY);
	char text[256] = "";

	write_control("cgroup.freeze", 1);
	while (!strstr(text, "frozen 1")) {
		const ssize_t n = pread(events, text, sizeof(text) - 1, 0);

		if (n < 0)
			fail("cgroup.events");
		text[n] = '\0';
	}
	close(events);
}

static void thaw(void)
{
	write_control("cgroup.freeze", 0);
}

static const struct way {
	const char *name;
	void (*halt)(void), (*release)(void);
	bool in_cgroup;
} ways[] = {
	{"interrupt", halt_each, go_on, false},
	{"one by one", halt_one_by_one, go_on, false},
	{"any", halt_any, go_on, false},
	{"group stop", halt_group, end_group_stop, false},
	{"freezer", freeze, thaw, true},
};

/* ---- measuring ---- */

static double now_us(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values)
{
	qsort(values, ROUNDS, sizeof(*values), compare);
	return values[ROUNDS / 2];
}

static void measure(const struct way *way)
{
	double halt[ROUNDS], release[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		const double begin = now_us();

		way->halt();
		halt[i] = now_us() - begin;
		way->release();
		release[i] = now_us() - begin - halt[i];
		usleep(PAUSE);
	}
	printf("%-10s  %8.2f us", way->name, median(halt) / count);
	if (way->release == end_group_stop)
		printf("\n");
	else
		printf("  and on %8.2f us\n", median(release) / count);
	fflush(stdout);
}

static void try_way(const struct way *way)
{
	char path[PATH_MAX];

	start_crowd();
	if (way->in_cgroup) {
		snprintf(path, sizeof(path), "%s/truehit-halts", directory);
		if (mkdir(path, 0755) < 0 && errno != EEXIST)
			fail(path);
		write_control("cgroup.procs", crowd_pid);
	}
	measure(way);
	end_crowd();
	usleep(PAUSE); /* the cgroup forgets the ended a little later */
	if (way->in_cgroup && rmdir(path) < 0)
		fail(path);
}

int main(int argc, char **argv)
{
	size_t size;

	count = argc > 1 ? atoi(argv[1]) : 0;
	directory = argc > 2 ? argv[2] : NULL;
	if (count < 1 || argc > 3) {
		fprintf(stderr, "usage: halts THREADS [DIRECTORY]\n");
		return 2;
	}
	size = sizeof(*crowd) + (size_t)count * sizeof(pid_t);
	crowd = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (crowd == MAP_FAILED)
		return 1;
	alarm(LIMIT);
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (!ways[i].in_cgroup || directory)
			try_way(&ways[i]);
	return 0;
}
