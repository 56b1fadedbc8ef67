/* SPDX-License-Identifier: BSD-2-Clause */
/* The engine of perf events on real processes: breakpoints. */
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/perf_child.h"

enum { ROUNDS = 1000 };

/* ---- what the inferior runs ---- */

PLACE(place)
PLACE(place_1)
PLACE(place_2)
PLACE(place_3)

static void rounds(void)
{
	void (*volatile call)(void) = place;

	for (uint64_t i = 0; i < ROUNDS; i++) {
		counter = i;
		call();
	}
}

static void rounds_and_marks(void)
{
	for (int i = 0; i < 3; i++) {
		rounds();
		raise(SIGUSR1);
	}
}

static void block_sigtrap(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	rounds();
}

static void *thread_main(void *data)
{
	(void)data;
	rounds();
	return NULL;
}

/* Makes the thread that hits, and ends before it does. */
static void *thread_maker(void *data)
{
	pthread_create(data, NULL, thread_main, NULL);
	return NULL;
}

static void thread_of_thread(void)
{
	pthread_t maker, hitter;

	pthread_create(&maker, NULL, thread_maker, &hitter);
	pthread_join(maker, NULL);
	pthread_join(hitter, NULL);
}

static void fork_child(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		rounds();
		_exit(GOOD_STATUS);
	}
	waitpid(pid, &status, 0);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

static void exec_other(void)
{
	execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
}

static void own_stop(void)
{
	raise(SIGSTOP);
}

/* ---- tests ---- */

TestSuite(perf_event, .init = set_up, .fini = tear_down, .timeout = 300);

Test(perf_event, false_hits_leave_no_stop)
{
	struct location location;

	start(rounds);
	insert(&location, BREAKPOINT_HARDWARE, place, condition(ROUNDS));
	expect_good_end();
	expect_counts(&location, ROUNDS, 0);
	take_out(&location, true);
}

Test(perf_event, true_hit_stops_there)
{
	struct location location;
	struct hits again = {0};

	start(rounds);
	insert(&location, BREAKPOINT_HARDWARE, place, condition(500));
	next();
	expect_hit(&location, true);
	cr_expect_eq(pc(), (uintptr_t)place);
	cr_expect_eq(counter_there(), 500);
	expect_counts(&location, 501, 1);

	/* The same SIGTRAP without a record, and none was lost: no hit. */
	if (fixture.event.signal == SIGTRAP) {
		fixture.engine.ops->on_stop(&fixture.engine, &fixture.event, &again);
		cr_expect(again.signal_is_ours);
		cr_expect_eq(again.count, 0);
	}

	expect_good_end();
	expect_counts(&location, ROUNDS, 1);
	fixture.engine.ops->reset_counts(&fixture.engine, &location);
	expect_counts(&location, 0, 0);
	take_out(&location, true);
}

Test(perf_event, unconditional)
{
	struct location location;

	start(rounds);
	insert(&location, BREAKPOINT_HARDWARE, place, NULL);
	for (uint64_t i = 0; i < 3; i++) {
		next();
		expect_hit(&location, true);
		cr_expect_eq(counter_there(), i);
	}
	take_out(&location, false);
	expect_good_end();
}

Test(perf_event, new_threads)
{
	struct location location;

	start(thread_of_thread);
	insert(&location, BREAKPOINT_HARDWARE, place, condition(500));
	next();
	expect_hit(&location, true);
	cr_expect_neq(fixture.event.tid, fixture.pid);
	cr_expect_eq(pc(), (uintptr_t)place);
	cr_expect_eq(counter_there(), 500);
	expect_good_end();
	expect_counts(&location, ROUNDS, 1);
	take_out(&location, true);
}

Test(perf_event, suspend_and_resume)
{
	struct location location;

	start(rounds_and_marks);
	insert(&location, BREAKPOINT_HARDWARE, place, condition(ROUNDS));
	next();
	cr_assert_eq(fixture.event.signal, SIGUSR1);
	expect_counts(&location, ROUNDS, 0);

	cr_assert_eq(fixture.engine.ops->suspend(&fixture.engine, &location), 0);
	next();
	cr_assert_eq(fixture.event.signal, SIGUSR1);
	expect_counts(&location, ROUNDS, 0);

	cr_assert_eq(fixture.engine.ops->resume(&fixture.engine, &location), 0);
	next();
	cr_assert_eq(fixture.event.signal, SIGUSR1);
	cr_expect_not(fixture.hits.signal_is_ours);
	expect_counts(&location, 2 * ROUNDS, 0);
	expect_good_end();
	take_out(&location, true);
}

Test(perf_event, removed_and_inserted_again)
{
	struct location location;

	start(rounds_and_marks);
	insert(&location, BREAKPOINT_HARDWARE, place, condition(500));
	next();
	expect_hit(&location, true);
	take_out(&location, false);
	next();
	cr_assert_eq(fixture.event.signal, SIGUSR1);
	cr_expect_eq(fixture.hits.count, 0);

	insert(&location, BREAKPOINT_HARDWARE, place, condition(500));
	expect_counts(&location, 0, 0);
	next();
	expect_hit(&location, true);
	expect_counts(&location, 501, 1);
	take_out(&location, false);
	next();
	cr_assert_eq(fixture.event.signal, SIGUSR1);
}

Test(perf_event, one_too_many)
{
	static void (*const places[])(void) = {place, place_1, place_2, place_3};
	struct location location[HW_SLOTS_MAX + 1];
	_cleanup_error_ struct error *error = NULL;
	bool shared;
	unsigned int slots = arch_native()->hw_slots(HW_EXECUTE, &shared);

	cr_assert_leq(slots, HW_SLOTS_MAX);
	start(rounds);
	for (unsigned int i = 0; i < slots; i++)
		insert(&location[i], BREAKPOINT_HARDWARE, places[i % 4], NULL);
	error = try_insert(&location[slots], BREAKPOINT_HARDWARE, place, NULL);
	cr_assert_not_null(error);
	cr_expect_eq(error_errno(error), ENOSPC, "%s", error_text(error));
	cr_expect_null(location[slots].engine_data);
	take_out(&location[0], false);
	insert(&location[0], BREAKPOINT_HARDWARE, place, NULL);
	for (unsigned int i = 0; i < slots; i++)
		take_out(&location[i], false);
	expect_good_end();
}

Test(perf_event, sigtrap_blocked)
{
	struct location location;

	start(block_sigtrap);
	insert(&location, BREAKPOINT_HARDWARE, place, condition(500));
	next();
	expect_hit(&location, true);
	cr_expect_eq(fixture.event.signal, SIGSTOP);
	cr_expect_eq(pc(), (uintptr_t)place);
	cr_expect_eq(counter_there(), 500);
	expect_good_end();
	cr_expect_eq(fixture.stops, 1);
	expect_counts(&location, ROUNDS, 1);
	take_out(&location, true);
}

Test(perf_event, own_sigstop_is_not_ours)
{
	struct location location;

	start(own_stop);
	insert(&location, BREAKPOINT_HARDWARE, place, NULL);
	next();
	cr_assert_eq(fixture.event.signal, SIGSTOP);
	cr_expect_not(fixture.hits.signal_is_ours);
	cr_expect_eq(fixture.hits.count, 0);
	expect_good_end();
	take_out(&location, true);
}

Test(perf_event, forked_child_is_free)
{
	struct location location;

	start(fork_child);
	insert(&location, BREAKPOINT_HARDWARE, place, NULL);
	cr_assert_eq(next(), EVENT_FORK);
	cr_assert_eq(ptrace(PTRACE_DETACH, fixture.event.child_pid, 0, 0), 0);
	do
		next();
	while (fixture.event.kind == EVENT_SIGNAL && fixture.event.signal == SIGCHLD);
	cr_assert_eq(fixture.event.kind, EVENT_EXITED);
	cr_expect_eq(fixture.event.status, GOOD_STATUS);
	expect_counts(&location, 0, 0);
	take_out(&location, true);
}

Test(perf_event, exec_takes_everything_out)
{
	struct location location[HW_SLOTS_MAX];
	bool shared;
	unsigned int slots = arch_native()->hw_slots(HW_EXECUTE, &shared);

	start(exec_other);
	for (unsigned int i = 0; i < slots; i++)
		insert(&location[i], BREAKPOINT_HARDWARE, place, NULL);
	cr_assert_eq(next(), EVENT_EXEC);
	for (unsigned int i = 0; i < slots; i++)
		take_out(&location[i], true);
	for (unsigned int i = 0; i < slots; i++)
		insert(&location[i], BREAKPOINT_HARDWARE, place, NULL);
	expect_good_end();
	for (unsigned int i = 0; i < slots; i++)
		take_out(&location[i], true);
}

Test(perf_event, leaves_the_reserve_of_descriptors)
{
	struct rlimit before, limit;
	struct location location;
	struct error *error;

	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	start(rounds);
	limit = (struct rlimit){3, before.rlim_max};
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	error = try_insert(&location, BREAKPOINT_HARDWARE, place, NULL);
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	cr_assert(error && error_errno(error) == EMFILE);
	error_destroy(error);
	insert(&location, BREAKPOINT_HARDWARE, place, NULL);
	take_out(&location, false);
	expect_good_end();
}
