/* SPDX-License-Identifier: BSD-2-Clause */
/* What is handed over for breakpoints holds while the client only continues. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "gdbstub/breakpoints/breakpoints.h"
#include "gdbstub/inferior/thread.h"
#include "gdbstub/run/continuation.h"
#include "gdbstub/text/decoder.h"
#include "tests/unit/run_place.h"

TestSuite(continuation, .init = set_up, .fini = tear_down, .timeout = 300);

/* The breakpoint has no condition, but this one is handed over for it. */
static void hand_at(struct inferior *inferior, uint64_t addr, uint16_t value)
{
	struct agent_expr *condition = argument_equals(value);
	struct agent_list conditions = {&condition, 1};
	struct error *error = breakpoints_hand(
		inferior->breakpoints, BREAKPOINT_SOFTWARE, addr, 1, &conditions);

	cr_assert_null(error, "%s", error ? error_text(error) : "");
	agent_expr_unref(condition);
}

static void hand(struct inferior *inferior, uint16_t value)
{
	hand_at(inferior, PLACE, value);
}

static void begin_any(bool only_continues)
{
	struct error *error = continuation_begin(&run, only_continues);

	cr_assert_null(error, "%s", error ? error_text(error) : "");
}

static void begin(void)
{
	begin_any(false);
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

/* ---- over a branch ---- */

/* Where loop() calls place(). */
static uint64_t call_of_place(void)
{
	uint64_t at = address((void (*)(void))loop), found = 0;
	struct decoder decoder;
	char target[32];

	snprintf(target, sizeof(target), "0x%" PRIx64, PLACE);
	cr_assert(decoder_init(&decoder, arch_native()));
	while (found == 0) {
		const uint8_t *code = (const uint8_t *)(uintptr_t)at;

		cr_assert(decoder_run(&decoder, code, 16, at));
		if (strstr(decoder.insn->op_str, target))
			found = at;
		at += decoder.insn->size;
	}
	decoder_deinit(&decoder);
	return found;
}

/* Continues to the call, and from there. The hits that were told before the 178th. */
static void over_the_call(bool only_continues, long passed)
{
	struct inferior *inferior = launch(run_loop);
	const uint64_t call = call_of_place();
	struct stop stop;

	hand_at(inferior, call, 177);
	insert(inferior, BREAKPOINT_SOFTWARE, call, NULL);
	begin_any(only_continues);
	stop = resume();
	cr_assert_eq(pc_of(stop.tid), call);
	cr_assert_eq(atomic_load(&shared->passed), 177);
	hand_at(inferior, call, 200);
	begin_any(only_continues);
	step_off_at(inferior, stop.tid, BREAKPOINT_SOFTWARE, call, NULL);
	stop = resume();
	cr_assert_eq(pc_of(stop.tid), call);
	cr_assert_eq(atomic_load(&shared->passed), passed);
}

/* Of gdb, such a step may be one of the user's, who wants to stop in the function. */
Test(continuation, ends_with_a_step_over_a_branch)
{
	over_the_call(false, 178);
}

Test(continuation, holds_over_a_branch_for_who_only_continues)
{
	over_the_call(true, 200);
}

Test(continuation, ends_with_a_step_elsewhere_for_who_only_continues)
{
	struct inferior *inferior = launch_with(177);
	struct stop stop;

	begin_any(true);
	stop = resume();
	begin_any(true);
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
