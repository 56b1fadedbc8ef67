/* SPDX-License-Identifier: BSD-2-Clause */
/* Run control against real processes: what is printed at a hit, and processes that
 * nobody attends. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gdbstub/breakpoints/breakpoints.h"
#include "gdbstub/inferior/registers.h"
#include "gdbstub/run/unattended.h"
#include "tests/unit/run_place.h"
#include "tests/unit/support.h"

TestSuite(run, .init = set_up, .fini = tear_down, .timeout = 300);

/* printf "%d,", the first argument of place() */
static void insert_command(struct inferior *inferior, enum breakpoint_type type,
			   struct agent_expr *condition, bool persistent)
{
	struct text code = {0};
	struct agent_expr *expr;
	struct agent_list conditions = {&condition, condition ? 1 : 0};
	struct commands commands = {{&expr, 1}, persistent};
	struct error *error;

	text_put(&code, REG(argument_register()));
	text_printf(&code, "%d,", 1);
	expr = text_command(&code);
	error = breakpoints_insert(inferior->breakpoints, type, PLACE, 1, &conditions,
				   &commands);
	cr_assert_null(error, "%s", error ? error_text(error) : "");
	agent_expr_unref(condition);
	agent_expr_unref(expr);
}

/* What commands print goes to a file of the test's own. */
static int output_fd;

static void catch_output(void)
{
	output_fd = memfd_create("output", MFD_CLOEXEC);
	cr_assert_geq(output_fd, 0);
	run.output = run.own_output = output_descriptor(output_fd);
}

/* The numbers that were printed: each value's count, of values below LOOPS. */
static unsigned int count_output(unsigned int counts[LOOPS])
{
	FILE *file = fdopen(dup(output_fd), "r");
	unsigned int total = 0, value;

	cr_assert_not_null(file);
	memset(counts, 0, LOOPS * sizeof(counts[0]));
	rewind(file);
	for (; fscanf(file, "%u,", &value) == 1; total++) {
		cr_assert_lt(value, LOOPS);
		counts[value]++;
	}
	fclose(file);
	return total;
}

static void expect_output(unsigned int times)
{
	unsigned int counts[LOOPS];

	cr_expect_eq(count_output(counts), times * LOOPS);
	for (unsigned int i = 0; i < LOOPS; i++)
		cr_expect_eq(counts[i], times, "%u: %u times", i, counts[i]);
}

static void check_commands(int engine, enum breakpoint_type type)
{
	struct error *unusable = run.engines.engine[engine].unusable;
	struct inferior *inferior;

	if (unusable)
		cr_skip_test("%s", error_text(unusable));
	use_only(&run, engine);
	catch_output();
	inferior = launch(run_loop);
	insert_command(inferior, type, NULL, false);
	expect_exit(42);
	expect_output(1);
}

Test(run, commands_at_every_hit_of_a_trap)
{
	check_commands(ENGINE_INT3, BREAKPOINT_SOFTWARE);
}

Test(run, commands_at_every_hit_of_a_debug_register)
{
	check_commands(ENGINE_DEBUGREG, BREAKPOINT_HARDWARE);
}

Test(run, commands_at_every_hit_of_an_event)
{
	check_commands(ENGINE_PERF_EVENT, BREAKPOINT_HARDWARE);
}

Test(run, commands_in_threads)
{
	catch_output();
	insert_command(launch(run_threads), BREAKPOINT_SOFTWARE, NULL, false);
	expect_exit(7);
	expect_output(THREADS);
}

Test(run, commands_in_threads_over_traps)
{
	use_only(&run, ENGINE_INT3);
	catch_output();
	insert_command(launch(run_threads), BREAKPOINT_SOFTWARE, NULL, false);
	expect_exit(7);
	expect_output(THREADS);
}

Test(run, commands_only_where_the_condition_holds)
{
	unsigned int counts[LOOPS];
	struct inferior *inferior;

	catch_output();
	inferior = launch(run_loop);
	insert_command(inferior, BREAKPOINT_SOFTWARE, argument_equals(200), false);
	expect_exit(42);
	cr_expect_eq(count_output(counts), 1);
	cr_expect_eq(counts[200], 1);
}

/* The same place again without commands: it stops as any other. */
Test(run, commands_are_replaced)
{
	unsigned int counts[LOOPS];
	struct inferior *inferior;
	struct stop stop;

	catch_output();
	inferior = launch(run_loop);
	insert_command(inferior, BREAKPOINT_SOFTWARE, NULL, false);
	insert(inferior, BREAKPOINT_SOFTWARE, PLACE, NULL);
	stop = resume();
	cr_expect_eq(stop.kind, STOP_SWBREAK);
	cr_expect_eq(count_output(counts), 0);
	step_off(inferior, stop.tid, BREAKPOINT_SOFTWARE, NULL);
	insert_command(inferior, BREAKPOINT_SOFTWARE, NULL, false);
	expect_exit(42);
	cr_expect_eq(count_output(counts), LOOPS - 1);
}

/* Commands are no reason to pass over what somebody else wants to stop for. */
Test(run, another_breakpoint_at_the_place_stops)
{
	struct inferior *inferior;
	struct stop stop;

	need_breakpoint_registers();
	catch_output();
	inferior = launch(run_loop);
	insert_command(inferior, BREAKPOINT_SOFTWARE, NULL, false);
	insert(inferior, BREAKPOINT_HARDWARE, PLACE, argument_equals(100));
	stop = resume();
	cr_expect_eq(stop.kind, STOP_HWBREAK);
	cr_expect_eq(atomic_load(&shared->passed), 100);
	breakpoints_remove_all(inferior->breakpoints);
	expect_exit(42);
}

/* The client takes a thread that has stepped to a breakpoint on without a hit. */
Test(run, a_step_to_the_place_runs_its_commands)
{
	unsigned int counts[LOOPS];
	struct inferior *inferior;
	struct stop stop;

	catch_output();
	inferior = launch(run_loop);
	/* Steps to there might never end: an exclusive sequence begins anew at each. */
	insert(inferior, BREAKPOINT_SOFTWARE, address((void (*)(void))run_loop), NULL);
	resume();
	breakpoints_remove_all(inferior->breakpoints);
	insert_command(inferior, BREAKPOINT_SOFTWARE, NULL, false);
	do {
		stop = step(inferior->pid);
		cr_assert_eq(stop.kind, STOP_SIGNAL);
		cr_assert_eq(stop.signal, SIGTRAP);
	} while (pc_of(stop.tid) != PLACE);
	cr_expect_eq(count_output(counts), 1);
	breakpoints_remove(inferior->breakpoints, BREAKPOINT_SOFTWARE, PLACE, 1);
	step(inferior->pid);
	insert_command(inferior, BREAKPOINT_SOFTWARE, NULL, false);
	expect_exit(42);
	expect_output(1);
}

static struct stop resume_one_as(struct inferior *inferior, enum resume_kind kind)
{
	struct thread *thread;

	FOREACH_THREAD (thread, inferior)
		run_set_action(&run, thread, (struct resume_action){.kind = kind});
	cr_assert_null(run_resume(&run));
	return wait_stop(&run);
}

/* A process that nobody attends runs on whatever is done with another one: at its
 * stops, and in the middle of its own steps over traps. */
static void check_unattended(void)
{
	struct inferior *left, *other;

	catch_output();
	left = launch(run_threads);
	insert_command(left, BREAKPOINT_SOFTWARE, NULL, true);
	cr_assert_null(run_leave(&run, left));
	atomic_store(&shared->go, 0);
	other = launch(run_loop);
	for (int i = 0; i < 50; i++) {
		struct stop stop;

		insert(other, BREAKPOINT_SOFTWARE, PLACE, NULL);
		stop = resume_one_as(other, RESUME_CONTINUE);
		cr_assert_eq(stop.kind, STOP_SWBREAK);
		cr_assert_eq(stop.pid, other->pid);
		breakpoints_remove(other->breakpoints, BREAKPOINT_SOFTWARE, PLACE, 1);
		stop = resume_one_as(other, RESUME_STEP);
		cr_assert_eq(stop.kind, STOP_SIGNAL);
	}
	cr_expect_eq(resume_one_as(other, RESUME_CONTINUE).kind, STOP_EXITED);
	while (!TAILQ_EMPTY(&run.inferiors.list)) {
		struct stop stop;

		cr_assert_not(run_poll(&run, &stop), "stop %d", stop.kind);
		usleep(1000);
	}
	expect_output(THREADS);
}

Test(run, unattended_runs_on)
{
	check_unattended();
}

Test(run, unattended_runs_on_over_traps)
{
	use_only(&run, ENGINE_INT3);
	check_unattended();
}

/* Left to itself, then taken up again: stopped, and shown. */
Test(run, unattended_is_rejoined)
{
	struct inferior *left;
	unsigned int counts[LOOPS], before;

	catch_output();
	left = launch(run_threads);
	insert_command(left, BREAKPOINT_SOFTWARE, NULL, true);
	cr_assert_null(run_leave(&run, left));
	cr_expect(left->control->hidden);
	while (count_output(counts) < 100) {
		struct stop stop;

		cr_assert_not(run_poll(&run, &stop));
		run_print(&run);
		usleep(1000);
	}
	run_rejoin(&run);
	cr_expect_not(left->control->hidden);
	before = count_output(counts);
	usleep(10000);
	cr_expect_eq(count_output(counts), before);
	expect_exit(7);
	expect_output(THREADS);
}
