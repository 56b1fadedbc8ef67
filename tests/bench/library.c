/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What libtruehit costs, in a process that filters itself: library THREADS. Of so many
 * threads all but one sleep. A line for each figure: its name and the nanoseconds
 *   aim    of truehit_aim()
 *   arm    of truehit_arm()
 *   loop   of a turn of a loop, without a filter
 *   idle   the same, with one that is armed and never hit
 *   false  of a hit that does not match
 *   count  of a hit that does not match as a counter's value is another
 */
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "bpf/library/truehit.h"

enum {
	AIMS = 200,
	ARMS = 1000000,
	TURNS = 1000000,
	RUNS = 20, /* of so many turns, the fastest counts */
	HITS = 20000,
	ROUNDS = 5,
};

static volatile uint64_t watched[2], elsewhere;

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void *sleep_on(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void start_threads(int count)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 1 << 16);
	for (int i = 1; i < count; i++) {
		if (pthread_create(&thread, &attr, sleep_on, NULL) != 0) {
			perror("pthread_create");
			exit(1);
		}
	}
	usleep(100000); /* they have gone to sleep */
}

static double cost_of_aim(struct truehit_filter *filter)
{
	const double begin = now_ns();

	for (int i = 0; i < AIMS; i++)
		truehit_aim(filter, TRUEHIT_WRITE, (uintptr_t)&watched[i % 2], 8);
	return (now_ns() - begin) / AIMS;
}

static double cost_of_arm(struct truehit_filter *filter)
{
	const double begin = now_ns();

	for (int i = 0; i < ARMS; i++)
		truehit_arm(filter, i % 2);
	return (now_ns() - begin) / ARMS;
}

static double cost_of_turn(void)
{
	double best = 1e9, cost, begin;

	for (int run = 0; run < RUNS; run++) {
		begin = now_ns();
		for (long i = 0; i < TURNS; i++)
			elsewhere = (uint64_t)i;
		cost = (now_ns() - begin) / TURNS;
		best = cost < best ? cost : best;
	}
	return best;
}

static double cost_of_hit(void)
{
	const double begin = now_ns();

	for (int i = 0; i < HITS; i++)
		watched[0] = 1;
	return (now_ns() - begin) / HITS;
}

static struct truehit_filter *open_filter(struct truehit *truehit,
					  const struct truehit_options *options,
					  const struct truehit_match *match)
{
	struct truehit_filter *filter;

	if (truehit_open(truehit, 0, options, &filter) < 0) {
		fprintf(stderr, "library: %s\n", truehit_why(truehit));
		exit(1);
	}
	truehit_set(filter, match);
	return filter;
}

static double cost_of_false_hit(struct truehit_filter *filter)
{
	truehit_aim(filter, TRUEHIT_WRITE, (uintptr_t)&watched[0], 8);
	truehit_arm(filter, TRUEHIT_FOREVER);
	return cost_of_hit();
}

/* A counter that counts nothing. */
static void measure_counter(struct truehit *truehit)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
	};
	const struct truehit_options options = {
		.size = sizeof(options),
		.deed = TRUEHIT_STOP,
		.flags = TRUEHIT_ONE_THREAD | TRUEHIT_COUNTER,
		.counter_fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0),
	};
	const struct truehit_match match = {
		.size = sizeof(match), .counter = 1, .counts = 1};
	struct truehit_filter *filter = open_filter(truehit, &options, &match);

	printf("count %.1f\n", cost_of_false_hit(filter));
	truehit_close(filter);
	close(options.counter_fd);
}

static void measure(struct truehit *truehit)
{
	const struct truehit_options options = {.size = sizeof(options),
						.deed = TRUEHIT_STOP};
	/* Nobody is this thread. */
	const struct truehit_match match = {.size = sizeof(match), .only_tid = 1};
	const double loop = cost_of_turn();
	struct truehit_filter *filter = open_filter(truehit, &options, &match);

	printf("loop %.3f\n", loop);
	printf("aim %.1f\n", cost_of_aim(filter));
	printf("arm %.3f\n", cost_of_arm(filter));
	printf("false %.1f\n", cost_of_false_hit(filter));
	printf("idle %.3f\n", cost_of_turn());
	truehit_close(filter);
	measure_counter(truehit);
}

int main(int argc, char **argv)
{
	struct truehit *truehit;

	if (argc != 2) {
		fprintf(stderr, "usage: library THREADS\n");
		return 2;
	}
	if (truehit_create(&truehit) < 0) {
		fprintf(stderr, "library: %s\n", truehit_why(truehit));
		return 1;
	}
	start_threads(atoi(argv[1]));
	for (int i = 0; i < ROUNDS; i++)
		measure(truehit);
	truehit_destroy(truehit);
	return 0;
}
