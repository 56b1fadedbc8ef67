/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gdbstub/control/pace.h"
#include "gdbstub/locations/location.h"

/* Longer than the clocks' grain. */
static void pass_time(void)
{
	const struct timespec pause = {.tv_nsec = 2000000};
	const clock_t begin = clock();

	nanosleep(&pause, NULL);
	while (clock() == begin)
		;
}

Test(pace, time_counts_while_threads_are_resumed)
{
	struct run run = {0};
	uint64_t before;

	pass_time();
	cr_expect_eq(pace_ran(&run), 0);
	pace_set_running(&run, true);
	cr_expect(run.running);
	pass_time();
	before = pace_ran(&run);
	cr_expect_gt(before, 0);
	pace_set_running(&run, true); /* some more */
	cr_expect_geq(pace_ran(&run), before);
	pace_set_running(&run, false);
	cr_expect_not(run.running);
	before = pace_ran(&run);
	pass_time();
	cr_expect_eq(pace_ran(&run), before);
}

static struct run run;
static struct inferior inferior = {.owner = &run.inferiors};
static struct location location = {.inferior = &inferior};

static void begin(void)
{
	inferior.pid = getpid();
	run.inferiors.controller = &run;
	pace_set_running(&run, true);
	pace_begin(&location);
}

Test(pace, of_a_location, .init = begin)
{
	const struct hit_counts more = {.hits = 5, .trues = 1, .maybes = 2};
	struct count_mark now, since;

	cr_assert_eq(location.shown.ran_ns, location.begun.ran_ns);
	pass_time();
	counts_add(&location.counts, 0, &more);
	now = pace_mark(&location);
	since = pace_between(&location.begun, &now);
	cr_expect_eq(since.counts.hits, 5);
	cr_expect_eq(since.counts.trues, 1);
	cr_expect_eq(since.counts.maybes, 2);
	cr_expect_gt(since.ran_ns, 0);
	cr_expect_gt(since.used_ns, 0);
	since = pace_between(&now, &now);
	cr_expect_eq(since.counts.hits, 0);
	cr_expect_eq(since.ran_ns, 0);
	counts_clear(&location.counts);
}

/* A program that is executed, or counts that were reset, must make no huge number. */
Test(pace, nothing_is_below_zero, .init = begin)
{
	const struct count_mark high = {.ran_ns = 9, .used_ns = 9, .counts = {9, 9, 9}};
	const struct count_mark low = {.ran_ns = 3, .used_ns = 3, .counts = {3, 3, 3}};
	struct count_mark since = pace_between(&high, &low);

	cr_expect_eq(since.ran_ns, 0);
	cr_expect_eq(since.used_ns, 0);
	cr_expect_eq(since.counts.hits, 0);
	cr_expect_eq(since.counts.trues, 0);
	cr_expect_eq(since.counts.maybes, 0);
}

Test(pace, of_a_process_that_has_ended, .init = begin)
{
	inferior.pid = fork();
	if (inferior.pid == 0)
		_exit(0);
	cr_assert_eq(waitpid(inferior.pid, NULL, 0), inferior.pid);
	cr_expect_eq(pace_mark(&location).used_ns, 0);
}
