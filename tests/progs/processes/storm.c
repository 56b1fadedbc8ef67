/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Something to attach to that does everything at once: storm FILE THREADS ROUNDS
 * [ACTIVITIES [SIGNALS [EVERY]]]. Each thread calls hit(i) ROUNDS times, with SIGNALS
 * more often, until so many SIGUSR1 were handled, and counts how often i was a multiple
 * of EVERY, which is 64 if it is not given; ACTIVITIES are letters, see the table. What
 * it counts is in FILE, to be compared with what a debugger saw. Begins when FILE says
 * so. With the letter k, what is called is kinds(), which has instructions of every
 * kind; with b, threads block SIGTRAP, with s, every second one of them (of an even
 * number) all signals; with c, another process sends SIGCONT as fast as it can, with j
 * SIGSTOP and SIGCONT.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kinds.h"

enum { PATIENCE = 30000, CHURN_CALLS = 8 }; /* ms until something is lost for good */

/* The file; storms.py knows the order. */
static struct counts {
	atomic_ulong go;		 /* the test says: 1 begin, 2 be quiet (but
					  * a leader that is to end does) */
	atomic_ulong hit_at, watched_at; /* addresses */
	atomic_ulong calls, trues;	 /* of hit() */
	atomic_ulong sent, handled;	 /* SIGUSR1 */
	atomic_ulong alarms;		 /* SIGALRM */
	atomic_ulong children, chlds;	 /* forked; SIGCHLD */
	atomic_ulong raised, trapped;	 /* SIGTRAP of its own */
	atomic_ulong errors, done;
	atomic_ulong places[KINDS_PLACES]; /* of instructions: kinds.h */
	atomic_ulong resizes, resized;	   /* SIGWINCH to the process, and handled */
	atomic_ulong conts;		   /* SIGCONT handled */
} * counts;

static pthread_t *workers;
static long nworkers, rounds;
static unsigned long signals; /* so many SIGUSR1; 0: until the end */
static unsigned long every = 64;
/* Changes before a true hit; the remainder says whose. */
static atomic_ulong near_true;
static atomic_ulong allowed; /* so many true hits */
static int calls_kinds, calls_others, blocks_all;
static volatile long watched[2];
static char *page;
static atomic_ulong finished, leave; /* workers that are through; may they end? */

__attribute__((noinline)) void hit(unsigned long i, const char *data);
void hit(unsigned long i, const char *data)
{
	__asm__ volatile("" : : "r"(i), "r"(data) : "memory");
	atomic_fetch_add(&counts->calls, 1);
	if (i % every == 0)
		atomic_fetch_add(&counts->trues, 1);
}

static void call(unsigned long i)
{
	if (calls_kinds ? !kinds_agree(i) : calls_others && !others_agree(i))
		atomic_fetch_add(&counts->errors, 1);
	hit(i, page);
}

static int over(void)
{
	return atomic_load(&counts->done) != 0;
}

/* False: it has not become so many in all that time. */
static int becomes(atomic_ulong *count, unsigned long wanted)
{
	for (long i = 0; i < PATIENCE * 10L; i++) {
		if (atomic_load(count) >= wanted)
			return 1;
		usleep(100);
	}
	atomic_fetch_add(&counts->errors, 1);
	return 0;
}

/* Every second worker blocks all signals. */
static void block_all_if(unsigned long number)
{
	sigset_t set;

	if (!blocks_all || number % 2 == 0)
		return;
	sigfillset(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

/* True hits, which take a debugger long, are to be no more than signals. */
static int is_early(unsigned long i)
{
	return signals > 0 && i % every == 0 &&
	       atomic_load(&counts->trues) >= atomic_load(&allowed);
}

static void *work(void *arg)
{
	unsigned long number = (unsigned long)arg;

	block_all_if(number);
	for (long i = 1; i <= rounds || atomic_load(&counts->handled) < signals; i++) {
		if (is_early((unsigned long)i))
			continue;
		if ((unsigned long)i % every == 0)
			atomic_store(&near_true,
				     (unsigned long)(i * nworkers) + number);
		call((unsigned long)i);
		watched[0] = i;
	}
	/* Signals are for those who live. */
	atomic_fetch_add(&finished, 1);
	while (!atomic_load(&leave))
		usleep(1000);
	return NULL;
}

/* ---- activities ---- */

static void on_signal(int number)
{
	int saved = errno;

	if (number == SIGUSR1)
		atomic_fetch_add(&counts->handled, 1);
	else if (number == SIGALRM)
		atomic_fetch_add(&counts->alarms, 1);
	else if (number == SIGCHLD)
		atomic_fetch_add(&counts->chlds, 1);
	else if (number == SIGTRAP)
		atomic_fetch_add(&counts->trapped, 1);
	else if (number == SIGWINCH)
		atomic_fetch_add(&counts->resized, 1);
	else if (number == SIGCONT)
		atomic_fetch_add(&counts->conts, 1);
	errno = saved;
}

/* The next one. */
static void allow_true(void)
{
	atomic_store(&allowed, atomic_load(&counts->trues) + 1);
	sched_yield();
}

/* A random moment, by what the workers do, as machines differ in speed; every second
 * time when one is about to make a true hit. Returns whom the signal is for. */
static unsigned long find_moment(unsigned long n)
{
	static unsigned int state = 1;
	unsigned long wanted = atomic_load(&counts->calls) +
			       (unsigned long)rand_r(&state) % (2 * every);
	unsigned long before = atomic_load(&near_true);

	if (n % 2 == 0) {
		while (!over() && atomic_load(&near_true) == before)
			allow_true();
		return atomic_load(&near_true) % (unsigned long)nworkers;
	}
	allow_true();
	while (!over() && atomic_load(&counts->calls) < wanted)
		usleep(50);
	return n % (unsigned long)nworkers;
}

/* Sends the next SIGUSR1 when the last was handled: none may get lost. */
static void *send_signals(void *arg)
{
	for (unsigned long n = 1; !over() && (signals == 0 || n <= signals); n++) {
		unsigned long i = signals ? find_moment(n) : blocks_all ? 2 * n : n;

		if (pthread_kill(workers[i % (unsigned long)nworkers], SIGUSR1) != 0)
			break;
		atomic_store(&counts->sent, n);
		while (!over() && atomic_load(&counts->handled) < n)
			usleep(50);
	}
	return arg;
}

/* Each when the last was handled: on a slow machine, one that is held back for long
 * would have the next after it, and nobody would get to do anything else. */
static void *set_alarms(void *arg)
{
	const struct itimerval soon = {{0}, {0, 10000}}, never = {{0}, {0}};

	for (unsigned long n = 1; !over(); n++) {
		setitimer(ITIMER_REAL, &soon, NULL);
		while (!over() && atomic_load(&counts->alarms) < n)
			usleep(1000);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	return arg;
}

static void child_ended(pid_t pid)
{
	unsigned long n = atomic_fetch_add(&counts->children, 1) + 1;
	int status = -1;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status != 0)
		atomic_fetch_add(&counts->errors, 1);
	becomes(&counts->chlds, n);
}

/* The child passes the place as well, where no trap may be left for it. */
static void *fork_children(void *arg)
{
	while (!over()) {
		pid_t pid = fork();

		if (pid == 0) {
			counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			call(64);
			_exit(0);
		}
		if (pid > 0)
			child_ended(pid);
	}
	return arg;
}

static void *spawn_children(void *arg)
{
	char *argv[] = {(char *)"true", NULL};

	while (!over()) {
		pid_t pid;

		if (posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ) == 0) {
			int status;

			while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
				;
			if (status != 0)
				atomic_fetch_add(&counts->errors, 1);
		}
	}
	return arg;
}

static void *short_life(void *arg)
{
	for (unsigned long i = 0; i < CHURN_CALLS; i++)
		call(64 + i);
	return arg;
}

static void *churn(void *arg)
{
	while (!over()) {
		pthread_t thread[4];

		for (int i = 0; i < 4; i++)
			if (pthread_create(&thread[i], NULL, short_life, NULL) != 0)
				abort();
		for (int i = 0; i < 4; i++)
			pthread_join(thread[i], NULL);
	}
	return arg;
}

static void *raise_traps(void *arg)
{
	while (!over()) {
		unsigned long n = atomic_fetch_add(&counts->raised, 1) + 1;

		raise(SIGTRAP);
		if (atomic_load(&counts->trapped) != n)
			atomic_fetch_add(&counts->errors, 1);
		usleep(100);
	}
	return arg;
}

/* What a condition reads comes and goes. */
static void *drop_page(void *arg)
{
	while (!over()) {
		madvise(page, 4096, MADV_DONTNEED);
		usleep(100);
	}
	return arg;
}

static void *forbid_page(void *arg)
{
	while (!over()) {
		mprotect(page, 4096, PROT_NONE);
		usleep(100);
		mprotect(page, 4096, PROT_READ);
		usleep(100);
	}
	return arg;
}

/* To the process, as of a terminal of another size (si_code SI_KERNEL; which a thread
 * may pretend to its own number only) and from a process. Each waits for the last one
 * to be handled: none may get lost. */
static void *resize(void *arg)
{
	siginfo_t info = {.si_signo = SIGWINCH, .si_code = SI_KERNEL};

	for (unsigned long n = 1; !over(); n++) {
		atomic_store(&counts->resizes, n);
		if (n % 2 == 0)
			kill(getpid(), SIGWINCH);
		else if (syscall(SYS_rt_sigqueueinfo, gettid(), SIGWINCH, &info) < 0)
			abort();
		if (!becomes(&counts->resized, n))
			break;
	}
	return arg;
}

/* Another process sends signals, one after the other, as fast as it can; while the
 * debugger steps, of which there would be no end, it pauses. */
static void disturb_by(const int *numbers, size_t count)
{
	pid_t parent = getpid();

	if (fork() != 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* To the very end: a debugger may deliver a SIGSTOP when SIGCONT has come. */
	for (size_t i = 0; getppid() == parent; i++) {
		while (i % count == 0 && atomic_load(&counts->go) != 1)
			usleep(100);
		kill(parent, numbers[i % count]);
	}
	_exit(0);
}

/* Before anybody attaches. */
static void start_disturbers(const char *letters)
{
	static const int conts[] = {SIGCONT}, stops[] = {SIGSTOP, SIGCONT};

	if (strchr(letters, 'c'))
		disturb_by(conts, 1);
	if (strchr(letters, 'j'))
		disturb_by(stops, 2);
}

/* Signals that the workers block, besides running. */
static void block_traps(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static const struct {
	char letter;
	int signal; /* to be handled, or 0 */
	void *(*run)(void *arg);
} activities[] = {
	{'u', SIGUSR1, send_signals},  {'a', SIGALRM, set_alarms},
	{'f', SIGCHLD, fork_children}, {'v', 0, spawn_children},
	{'w', 0, spawn_children},      {'t', 0, churn},
	{'r', SIGTRAP, raise_traps},   {'d', 0, drop_page},
	{'p', 0, forbid_page},	       {'x', SIGWINCH, resize},
};

enum { NACTIVITIES = sizeof(activities) / sizeof(activities[0]) };

/* The first thread works, too, alone at first. */
static void work_between(const char *letters)
{
	static unsigned long i;

	for (int n = 0; strchr(letters, 'm') && n < 1000; n++)
		call(++i);
}

static void handle(int number)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	sigaction(number, &action, NULL);
}

static void *run_all(void *letters)
{
	pthread_t threads[NACTIVITIES];
	int started[NACTIVITIES] = {0};

	for (int i = 0; i < NACTIVITIES; i++)
		if (strchr(letters, activities[i].letter) && activities[i].signal)
			handle(activities[i].signal);
	if (strchr(letters, 'c'))
		handle(SIGCONT);
	while (atomic_load(&counts->go) != 1)
		usleep(1000);
	if (strchr(letters, 'b'))
		block_traps();
	for (long i = 0; i < nworkers; i++) {
		work_between(letters);
		if (pthread_create(&workers[i], NULL, work, (void *)i) != 0)
			abort();
	}
	work_between(letters);
	for (int i = 0; i < NACTIVITIES; i++)
		if (strchr(letters, activities[i].letter))
			started[i] = pthread_create(&threads[i], NULL,
						    activities[i].run, NULL) == 0;
	while (atomic_load(&finished) < (unsigned long)nworkers)
		usleep(1000);
	atomic_store(&counts->done, 1);
	for (int i = 0; i < NACTIVITIES; i++)
		if (started[i])
			pthread_join(threads[i], NULL);
	becomes(&counts->handled, atomic_load(&counts->sent));
	atomic_store(&leave, 1);
	for (long i = 0; i < nworkers; i++)
		pthread_join(workers[i], NULL);
	exit(atomic_load(&counts->errors) ? 1 : 0);
}

int main(int argc, char **argv)
{
	const char *letters = argc > 4 ? argv[4] : "";
	int fd = argc > 3 ? open(argv[1], O_RDWR | O_CREAT, 0666) : -1;
	pthread_t thread;

	if (fd < 0 || ftruncate(fd, 4096) < 0 || (argc > 6 && atol(argv[6]) < 1))
		return 1;
	/* With `nice -n -20`, debuggers do not wait for those who only hit. */
	setpriority(PRIO_PROCESS, 0, 0);
	nworkers = atol(argv[2]);
	rounds = atol(argv[3]);
	signals = argc > 5 ? strtoul(argv[5], NULL, 10) : 0;
	every = argc > 6 ? strtoul(argv[6], NULL, 10) : every;
	workers = calloc((size_t)nworkers, sizeof(*workers));
	page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (!workers || page == MAP_FAILED || counts == MAP_FAILED)
		return 1;
	atomic_store(&counts->watched_at, (unsigned long)watched);
	kinds_note_places(counts->places);
	calls_kinds = strchr(letters, 'k') != NULL;
	calls_others = strchr(letters, 'o') != NULL;
	blocks_all = strchr(letters, 's') != NULL;
	start_disturbers(letters);
	atomic_store(&counts->hit_at, (unsigned long)hit);
	if (!strchr(letters, 'l'))
		run_all((void *)letters);
	/* The leader ends before its threads. */
	if (pthread_create(&thread, NULL, run_all, (void *)letters) != 0)
		return 1;
	while (!atomic_load(&counts->go))
		usleep(1000);
	pthread_exit(NULL);
}
