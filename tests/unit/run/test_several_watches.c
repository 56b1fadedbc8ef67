/* SPDX-License-Identifier: BSD-2-Clause */
/* One access that hits several watchpoints: which of them a stop is about, and what the
 * value filter takes the client to have seen. */
#include <criterion/criterion.h>
#include <signal.h>

#include "gdbstub/breakpoints/breakpoints.h"
#include "gdbstub/breakpoints/watch.h"
#include "gdbstub/inferior/memory.h"
#include "gdbstub/inferior/thread.h"
#include "gdbstub/stops/pending.h"
#include "gdbstub/stops/stale.h"
#include "tests/unit/run_place.h"
#include "tests/unit/support.h"

TestSuite(several_watches, .init = set_up, .fini = tear_down, .timeout = 300);

/* Two watchpoints of four bytes, which each store writes both. */
static volatile uint64_t both;

#define FIRST  ((uint64_t)(uintptr_t)&both)
#define SECOND (FIRST + 4)
#define HALVES UINT64_C(0x100000001)

static int write_both(void)
{
	static const uint64_t values[] = {HALVES, 2 * HALVES, 2 * HALVES,
					  2 * HALVES + 1};

	for (unsigned int i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		both = values[i];
	return 5;
}

static void need_engine(int number)
{
	const struct error *unusable = run.engines.engine[number].unusable;

	if (unusable)
		cr_skip_test("%s", error_text(unusable));
	use_only(&run, number);
}

static struct inferior *launch_watched(bool all_watches)
{
	struct inferior *inferior = launch(write_both);

	need_breakpoint_registers();
	if (inferior->arch->stores)
		cr_skip_test("hits come before the access: test_aarch64_stores");
	run.wishes.all_watches = all_watches;
	for (uint64_t addr = FIRST; addr <= SECOND; addr += 4)
		cr_assert_null(breakpoints_insert(
			inferior->breakpoints, WATCHPOINT_WRITE, addr, 4, NULL, NULL));
	return inferior;
}

/* The client reads what it was told of, as gdb does. */
static void look(struct inferior *inferior, const struct stop *stop, uint64_t addr)
{
	uint32_t value;

	cr_assert_eq(inferior_read(inferior, addr, &value, 4), 4);
	watch_shown(thread_find(&run.inferiors, stop->tid), addr, &value, 4);
}

static void expect_values(const struct watch_values *values, uint8_t old, uint8_t new)
{
	cr_expect_eq(values->len, 4);
	cr_expect_eq(values->old[0], old);
	cr_expect_eq(values->new[0], new);
}

static void expect_both(const struct stop *stop, uint8_t old, uint8_t new)
{
	cr_assert_eq(stop->kind, STOP_WATCH, "kind %d", stop->kind);
	cr_assert_eq(stop->nothers, 1);
	cr_expect_eq(stop->addr + stop->others[0].addr, FIRST + SECOND);
	cr_expect_eq(stop->others[0].type, WATCHPOINT_WRITE);
	expect_values(&stop->values, old, new);
	expect_values(&stop->others[0].values, old, new);
}

static void check_all_told(void)
{
	struct inferior *inferior = launch_watched(true);

	for (uint8_t i = 0; i < 2; i++) {
		struct stop stop = resume();

		expect_both(&stop, i, i + 1);
		look(inferior, &stop, FIRST);
		look(inferior, &stop, SECOND);
	}
	/* The third store changes neither, and the client has seen both. */
	struct stop stop = resume();

	cr_assert_eq(stop.kind, STOP_WATCH);
	cr_expect_eq(stop.addr, FIRST);
	cr_expect_eq(stop.nothers, 0);
	expect_values(&stop.values, 2, 3);
	look(inferior, &stop, FIRST);
	expect_exit(5);
}

Test(several_watches, in_the_kernel)
{
	need_engine(ENGINE_PERF_EVENT);
	check_all_told();
}

Test(several_watches, by_debug_registers)
{
	need_engine(ENGINE_DEBUGREG);
	check_all_told();
}

static const struct watch_values *values_at(const struct stop *stop, uint64_t addr)
{
	cr_assert_eq(stop->kind, STOP_WATCH, "kind %d", stop->kind);
	cr_assert_eq(stop->nothers, 1);
	return stop->addr == addr ? &stop->values : &stop->others[0].values;
}

/* What the client has not looked at was no hit for it: it is told at the next one, also
 * if that changes nothing, and what that has changed is what it knows. */
Test(several_watches, told_but_not_looked_at)
{
	struct inferior *inferior = launch_watched(true);
	struct stop stop = resume();

	expect_values(values_at(&stop, SECOND), 0, 1);
	look(inferior, &stop, FIRST);
	stop = resume();
	expect_values(values_at(&stop, FIRST), 1, 2);
	expect_values(values_at(&stop, SECOND), 0, 2);
	look(inferior, &stop, FIRST);
	stop = resume();
	cr_assert_eq(stop.kind, STOP_WATCH);
	cr_expect_eq(stop.addr, SECOND);
	cr_expect_eq(stop.nothers, 0);
	expect_values(&stop.values, 0, 2);
}

/* Other clients are told of one, and of what they were not told at its next hit. */
Test(several_watches, one_is_told)
{
	struct inferior *inferior = launch_watched(false);
	uint64_t told[3];

	for (int i = 0; i < 3; i++) {
		struct stop stop = resume();

		cr_assert_eq(stop.kind, STOP_WATCH);
		cr_assert_eq(stop.nothers, 0);
		told[i] = stop.addr;
		look(inferior, &stop, stop.addr);
	}
	/* At the third store, which changes neither. */
	cr_expect_neq(told[2], told[1]);
}

/* ---- the client takes watchpoints out before it is told ---- */

static const struct stop *drop_stale(struct inferior *inferior)
{
	struct thread *thread = TAILQ_FIRST(&inferior->threads);

	set_actions((struct resume_action){.kind = RESUME_CONTINUE});
	stale_drop(&run, thread);
	return thread->control->pending_stop ? &thread->control->pending_stop->stop
					     : NULL;
}

static struct inferior *launch_pending(void)
{
	struct inferior *inferior = launch_watched(true);
	struct stop stop = {
		.kind = STOP_WATCH,
		.signal = SIGTRAP,
		.watch = WATCHPOINT_WRITE,
		.addr = FIRST,
		.values = {.len = 4, .new = {1}},
		.others = {{WATCHPOINT_WRITE, SECOND, {.len = 4, .new = {2}}}},
		.nothers = 1,
	};

	pending_set(&run, TAILQ_FIRST(&inferior->threads), stop);
	return inferior;
}

Test(several_watches, the_other_is_removed)
{
	struct inferior *inferior = launch_pending();
	const struct stop *stop = drop_stale(inferior);

	cr_assert(stop && stop->nothers == 1);
	breakpoints_remove(inferior->breakpoints, WATCHPOINT_WRITE, SECOND, 4);
	stop = drop_stale(inferior);
	cr_assert_not_null(stop);
	cr_expect_eq(stop->addr, FIRST);
	cr_expect_eq(stop->nothers, 0);
}

Test(several_watches, the_first_is_removed)
{
	struct inferior *inferior = launch_pending();
	const struct stop *stop;

	breakpoints_remove(inferior->breakpoints, WATCHPOINT_WRITE, FIRST, 4);
	stop = drop_stale(inferior);
	cr_assert_not_null(stop);
	cr_expect_eq(stop->addr, SECOND);
	cr_expect_eq(stop->values.new[0], 2);
	cr_expect_eq(stop->nothers, 0);
}

Test(several_watches, all_are_removed)
{
	struct inferior *inferior = launch_pending();

	breakpoints_remove(inferior->breakpoints, WATCHPOINT_WRITE, SECOND, 4);
	breakpoints_remove(inferior->breakpoints, WATCHPOINT_WRITE, FIRST, 4);
	cr_expect_null(drop_stale(inferior));
}
