/* SPDX-License-Identifier: BSD-2-Clause */
/* What is handed over for breakpoints holds while the client only continues. */
#include <criterion/criterion.h>
#include <signal.h>

#include "gdbstub/breakpoints/breakpoints.h"
#include "gdbstub/inferior/thread.h"
#include "gdbstub/run/continuation.h"
#include "tests/unit/run_place.h"

TestSuite(continuation, .init = set_up, .fini = tear_down, .timeout = 300);

/* The breakpoint has no condition, but this one is handed over for it. */
static void hand(struct inferior *inferior, uint16_t value)
{
	struct agent_expr *condition = argument_equals(value);
	struct agent_list conditions = {&condition, 1};
	struct error *error = breakpoints_hand(
		inferior->breakpoints, BREAKPOINT_SOFTWARE, PLACE, 1, &conditions);

	cr_assert_null(error, "%s", error ? error_text(error) : "");
	agent_expr_unref(condition);
}

static void begin(void)
{
	struct error *error = continuation_begin(&run);

	cr_assert_null(error, "%s", error ? error_text(error) : "");
}

static void expect_passed(struct stop stop, long passed)
{
	cr_assert_eq(stop.kind, STOP_SWBREAK, "kind %d signal %d", stop.kind,
		     stop.signal);
	cr_assert_eq(pc_of(stop.tid), PLACE);
	cr_assert_eq(atomic_load(&shared->passed), passed);
}

static struct inferior *launch_with(uint16_t value)
{
	struct inferior *inferior = launch(run_loop);

	hand(inferior, value);
	insert(inferior, BREAKPOINT_SOFTWARE, PLACE, NULL);
	return inferior;
}

static void announced(void)
{
	struct inferior *inferior = launch_with(177);
	struct stop stop;

	begin();
	stop = resume();
	expect_passed(stop, 177);
	begin();
	step_off(inferior, stop.tid, BREAKPOINT_SOFTWARE, NULL);
	expect_exit(42);
	cr_assert_eq(atomic_load(&shared->passed), LOOPS);
}

Test(continuation, holds_when_it_is_announced)
{
	announced();
}

Test(continuation, holds_in_a_trap)
{
	use_only(&run, ENGINE_INT3);
	announced();
}

Test(continuation, does_not_hold_unannounced)
{
	launch_with(177);
	expect_passed(resume(), 0);
}

/* gdb steps over a function: in there it has a breakpoint of its own at the address. */
Test(continuation, ends_with_a_range)
{
	struct inferior *inferior = launch_with(177);
	const uint64_t pc = PLACE;
	struct stop stop;

	begin();
	stop = resume();
	expect_passed(stop, 177);
	begin();
	breakpoints_remove(inferior->breakpoints, BREAKPOINT_SOFTWARE, PLACE, 1);
	set_actions((struct resume_action){
		.kind = RESUME_RANGE, .start = pc, .end = pc + 1});
	cr_assert_null(run_resume(&run));
	wait_stop(&run);
	insert(inferior, BREAKPOINT_SOFTWARE, PLACE, NULL);
	expect_passed(resume(), 178);
	step_off(inferior, stop.tid, BREAKPOINT_SOFTWARE, NULL);
	begin();
	expect_exit(42);
}

Test(continuation, ends_with_written_registers)
{
	struct inferior *inferior = launch_with(177);
	struct stop stop;

	begin();
	continuation_disturb(&run);
	stop = resume();
	expect_passed(stop, 0);
	begin();
	step_off(inferior, stop.tid, BREAKPOINT_SOFTWARE, NULL);
	expect_passed(resume(), 177);
}

/* The next one has announced nothing. */
Test(continuation, ends_with_the_client)
{
	launch_with(177);
	begin();
	run_forget_wishes(&run);
	expect_passed(resume(), 0);
}

Test(continuation, ends_with_a_signal)
{
	launch_with(177);
	begin();
	set_actions((struct resume_action){.kind = RESUME_CONTINUE, .signal = SIGCHLD});
	cr_assert_null(run_resume(&run));
	expect_passed(wait_stop(&run), 0);
}

/* A step that is none over a breakpoint may be one of several. */
Test(continuation, ends_with_a_step_elsewhere)
{
	struct inferior *inferior = launch_with(177);
	struct stop stop;

	begin();
	stop = resume();
	begin();
	step_off(inferior, stop.tid, BREAKPOINT_SOFTWARE, NULL);
	step(stop.tid);
	expect_passed(resume(), 178);
}

/* The program does not notice that the conditions come and go; nor do the counts. */
Test(continuation, counts_go_on)
{
	struct inferior *inferior = launch_with(50);
	const struct location *location =
		location_find(inferior->breakpoints, BREAKPOINT_SOFTWARE, PLACE, 1);
	struct stop stop;

	begin();
	stop = resume();
	expect_passed(stop, 50);
	cr_assert_eq(location_count(location).hits, 51);
	continuation_disturb(&run);
	step_off(inferior, stop.tid, BREAKPOINT_SOFTWARE, NULL);
	expect_passed(resume(), 51);
	cr_assert_eq(location_count(location).hits, 52);
	begin();
	step_off(inferior, stop.tid, BREAKPOINT_SOFTWARE, NULL);
	hand(inferior, 60);
	cr_assert_eq(location_count(location).hits, 0, "another condition");
	expect_passed(resume(), 60);
}
