/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Data races of an unmodified program, sampled while it runs, with no debugger:
 *
 *   cc -shared -fPIC -D_GNU_SOURCE race-sample.c -o race-sample.so \
 *      $(pkg-config --cflags --libs truehit) -pthread
 *   LD_PRELOAD=./race-sample.so ./program
 *
 * Two thousand times a second a filter is aimed at the next of the program's global
 * variables, for one thread that writes to it. In that thread's
 * signal handler, the filter waits for any other thread, for a millisecond: one that
 * comes meanwhile is not kept away by a lock, and the two accesses are a race. When
 * the program ends, both sides of each are shown, by addr2line(1). What libraries do,
 * such as that of locks, is theirs.
 *
 * The program's own SIGPROF and SIGTRAP are not served.
 */
#include <execinfo.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <truehit.h>

enum {
	PERIOD_NS = 500000, /* between two aims */
	WAIT_NS = 1000000,  /* for the other thread */
	RACES_MAX = 64,
	FRAMES = 3, /* the handler, the signal's frame, */
	ACCESS = 2, /* and the access */
};

struct side {
	pid_t tid;
	void *pc;
};

struct race {
	uintptr_t addr;
	struct side sides[2];
};

/* What a filter is aimed at next. */
enum stage { WRITER, OTHER };

static struct truehit *truehit;
static struct truehit_filter *filter;
static timer_t timer;
static uintptr_t data, data_end; /* the program's variables, */
static uintptr_t code, code_end; /* its instructions, */
static uintptr_t program;	 /* and where it is loaded */
static atomic_flag busy = ATOMIC_FLAG_INIT;
static atomic_int stage;
static struct race now;
static atomic_int other_came;
static struct race races[RACES_MAX];
static unsigned int count, samples;

/* ---- signals ---- */

static void aim(uintptr_t addr, enum truehit_kind kind, pid_t not_tid)
{
	const struct truehit_match match = {.size = sizeof(match), .not_tid = not_tid};

	truehit_arm(filter, 0);
	if (truehit_aim(filter, kind, addr, sizeof(uint64_t)) == 0 &&
	    truehit_set(filter, &match) == 0)
		truehit_arm(filter, 1);
}

static long ns_since(const struct timespec *begin)
{
	struct timespec end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	return (end.tv_sec - begin->tv_sec) * 1000000000L + end.tv_nsec -
	       begin->tv_nsec;
}

static int is_programs(const struct side *side)
{
	return (uintptr_t)side->pc >= code && (uintptr_t)side->pc < code_end;
}

static int is_known(const struct race *race)
{
	for (unsigned int i = 0; i < count; i++)
		if (races[i].addr == race->addr &&
		    races[i].sides[0].pc == race->sides[0].pc &&
		    races[i].sides[1].pc == race->sides[1].pc)
			return 1;
	return 0;
}

/* This thread has written, or is about to: is it alone there? */
static void wait_for_other(struct side side)
{
	struct timespec begin;

	samples++;
	now.sides[0] = side;
	atomic_store(&other_came, 0);
	atomic_store(&stage, OTHER);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	aim(now.addr, TRUEHIT_ACCESS, side.tid);
	while (!atomic_load(&other_came) && ns_since(&begin) < WAIT_NS)
		sched_yield(); /* there may be one processor */
	truehit_arm(filter, 0);
	if (atomic_load(&other_came) && count < RACES_MAX &&
	    is_programs(&now.sides[0]) && is_programs(&now.sides[1]) && !is_known(&now))
		races[count++] = now;
	atomic_store(&stage, WRITER);
}

static void on_trap(int number, siginfo_t *info, void *context)
{
	const pid_t tid = gettid();
	void *frames[FRAMES] = {0};
	struct truehit_hit hit;
	int whose;

	(void)context;
	whose = truehit_whose(truehit, tid, info, &hit);
	if (whose == 0) {
		signal(number, SIG_DFL); /* somebody else's, who has no handler */
		raise(number);
		return;
	}
	if (whose == 2 || hit.stale || hit.late)
		return;
	backtrace(frames, FRAMES);
	if (atomic_load(&stage) == OTHER) {
		if (hit.addr != now.addr)
			return;
		now.sides[1] = (struct side){tid, frames[ACCESS]};
		atomic_store(&other_came, 1);
	} else if (!atomic_flag_test_and_set(&busy)) {
		/* Meanwhile it may have been the next variable's turn. */
		if (hit.addr == now.addr)
			wait_for_other((struct side){tid, frames[ACCESS]});
		atomic_flag_clear(&busy);
	}
}

/* The next variable, unless two threads are being compared. */
static void on_time(int number)
{
	(void)number;
	if (atomic_flag_test_and_set(&busy))
		return;
	now.addr += sizeof(uint64_t);
	if (now.addr < data || now.addr + sizeof(uint64_t) > data_end)
		now.addr = data;
	aim(now.addr, TRUEHIT_WRITE, 0);
	atomic_flag_clear(&busy);
}

/* ---- begin and end ---- */

/* The first object is the program; the segment of it that can be written has its
 * variables, after those that the dynamic linker writes alone. */
static int find_data(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	program = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		const uintptr_t begin = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_LOAD && segment->p_flags & PF_W) {
			data = begin;
			data_end = begin + segment->p_memsz;
		} else if (segment->p_type == PT_LOAD && segment->p_flags & PF_X) {
			code = begin;
			code_end = begin + segment->p_memsz;
		} else if (segment->p_type == PT_GNU_RELRO) {
			data = begin + segment->p_memsz;
		}
	}
	data = (data + 7) & ~(uintptr_t)7;
	return 1;
}

static void start(void)
{
	struct sigaction trap = {.sa_flags = SA_SIGINFO, .sa_sigaction = on_trap};
	struct sigaction tick = {.sa_flags = SA_RESTART, .sa_handler = on_time};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
	const struct itimerspec every = {{0, PERIOD_NS}, {0, PERIOD_NS}};
	void *first;

	sigaddset(&trap.sa_mask, SIGPROF);
	sigaddset(&tick.sa_mask, SIGTRAP);
	sigaction(SIGTRAP, &trap, NULL);
	sigaction(SIGPROF, &tick, NULL);
	backtrace(&first, 1); /* it allocates once */
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &every, NULL);
}

static __attribute__((constructor)) void begin(void)
{
	const struct truehit_options options = {.size = sizeof(options),
						.deed = TRUEHIT_STOP};
	int err = truehit_create(&truehit);

	/* The programs that this one starts are not sampled. */
	unsetenv("LD_PRELOAD");
	if (err == 0)
		err = truehit_open(truehit, 0, &options, &filter);
	if (err < 0) {
		fprintf(stderr, "race-sample: %s: %s\n", strerror(-err),
			truehit_why(truehit));
		_exit(77);
	}
	dl_iterate_phdr(find_data, NULL);
	start();
}

/* Where the processor tells of a write after it, the address is the next
 * instruction's. */
static void show_side(const char *title, const struct side *side, const char *exe)
{
	const uintptr_t before = truehit_register(truehit, "rip") >= 0;
	char command[512];

	printf("  %s, thread %d: ", title, side->tid);
	fflush(stdout);
	snprintf(command, sizeof(command), "addr2line -Cfpse '%s' %#lx", exe,
		 (unsigned long)((uintptr_t)side->pc - program - before));
	if (system(command) != 0)
		printf("%p\n", side->pc);
}

static void show_tracer(void)
{
	char line[128];
	FILE *status = fopen("/proc/self/status", "r");

	while (status && fgets(line, sizeof(line), status))
		if (strncmp(line, "TracerPid:", 10) == 0)
			printf("race-sample: %s", line);
	if (status)
		fclose(status);
}

static __attribute__((destructor)) void end(void)
{
	char exe[256] = "";

	if (!filter)
		return;
	timer_delete(timer);
	truehit_arm(filter, 0);
	if (readlink("/proc/self/exe", exe, sizeof(exe) - 1) < 0)
		return;
	for (unsigned int i = 0; i < count; i++) {
		printf("race-sample: two threads at %#lx without a lock\n",
		       (unsigned long)(races[i].addr - program));
		show_side("written by", &races[i].sides[0], exe);
		show_side("accessed by", &races[i].sides[1], exe);
	}
	show_tracer();
	printf("race-sample: %u races in %u samples\n", count, samples);
	truehit_destroy(truehit);
}
