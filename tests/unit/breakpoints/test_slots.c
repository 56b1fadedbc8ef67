/* SPDX-License-Identifier: BSD-2-Clause */
/* What people are told of slots, where breakpoints and watchpoints have a pool each. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "gdbstub/breakpoints/slots.h"

static struct inferiors inferiors;
static struct inferior inferior;
static struct breakpoints breakpoints;
static struct engines engines;
static struct arch_ops arch;
static struct location locations[3];
static int free_slots;

static unsigned int two_pools(enum hw_kind kind, bool *shared)
{
	*shared = false;
	return kind == HW_EXECUTE ? 6 : 4;
}

/* Execution takes one, 8 bytes each take one. */
static int plan(const struct hw_region *region, struct hw_region *out, unsigned int max)
{
	unsigned int count = region->kind == HW_EXECUTE ? 1 : (region->len + 7) / 8;

	if (count > max)
		return -ENOSPC;
	for (unsigned int i = 0; i < count; i++)
		out[i] = *region;
	return (int)count;
}

static int find_out(struct engine *engine, const struct inferior *of, enum hw_kind kind)
{
	cr_assert(engine == &engines.engine[0] && of == &inferior);
	return kind == HW_EXECUTE ? -EPERM : free_slots;
}

static const struct engine_ops ops = {
	.name = "fake", .by_slots = true, .slots_free = find_out};
static const struct engine_ops other_ops = {.name = "other"};

static void begin(void)
{
	static const enum breakpoint_type types[] = {
		BREAKPOINT_HARDWARE, WATCHPOINT_WRITE, WATCHPOINT_ACCESS};

	arch = (struct arch_ops){.hw_slots = two_pools, .hw_plan = plan};
	for (int i = 0; i < NENGINES; i++)
		engines.engine[i].ops = i == 0 ? &ops : &other_ops;
	TAILQ_INIT(&inferiors.list);
	inferior = (struct inferior){
		.owner = &inferiors, .arch = &arch, .breakpoints = &breakpoints};
	breakpoints = (struct breakpoints){.inferior = &inferior, .engines = &engines};
	TAILQ_INIT(&breakpoints.locations);
	for (unsigned int i = 0; i < 3; i++) {
		locations[i] =
			(struct location){.inferior = &inferior,
					  .shown_number = (int)i + 1,
					  .type = types[i],
					  .addr = 0x1000 * (i + 1),
					  .len = 12,
					  .wanted = true,
					  .state = i < 2 ? LOCATION_IN : LOCATION_OUT,
					  .engine = i < 2 ? &engines.engine[0] : NULL};
		TAILQ_INSERT_TAIL(&breakpoints.locations, &locations[i], link);
	}
}

TestSuite(slots, .init = begin);

static void assert_printed(const char *wanted)
{
	_cleanup_buffer_ struct buffer text = {0};

	slots_print(&breakpoints, &text);
	cr_assert_not_null(strstr(buffer_string(&text), wanted), "%s",
			   buffer_string(&text));
}

static void assert_error(const char *wanted)
{
	_cleanup_error_ struct error *error = slots_error(&locations[2]);

	cr_assert_str_eq(error_text(error), wanted);
}

Test(slots, each_pool_has_its_own_users)
{
	free_slots = 2;
	assert_printed("Breakpoint slots of process 0, in each thread: 6, 1 in use, "
		       "5 free\n    1  hbreak *0x1000: 1 slot\n");
	assert_printed("Watchpoint slots of process 0, in each thread: 4, 2 in use, "
		       "2 free\n    2  watch *0x2000, 12 bytes: 2 slots\n");
}

Test(slots, what_is_missing_is_somebody_elses)
{
	free_slots = 1;
	assert_printed("Watchpoint slots of process 0, in each thread: 4, 2 in use, "
		       "1 taken by another debugger or user of perf, 1 free\n");
	assert_error(
		"no hardware slots for awatch *0x3000, 12 bytes: it needs 2 slots, "
		"each thread has 4, 1 taken by another debugger or user of perf, "
		"1 free; in use by 2 (watch *0x2000, 12 bytes); delete what is not "
		"needed (monitor breakpoints shows all)");
}

Test(slots, none_that_works)
{
	_cleanup_error_ struct error *unusable = error_create(0, "it does not fire");

	engines.engine[0].unusable = unusable;
	assert_printed("Breakpoint slots of process 0, in each thread: 6, none usable: "
		       "it does not fire\n");
	assert_printed("Watchpoint slots of process 0, in each thread: 4, none usable: "
		       "it does not fire\n");
}

Test(slots, more_than_the_processor_has)
{
	locations[2].len = 33;
	assert_error(
		"no hardware slots for awatch *0x3000, 33 bytes: it needs 5 slots, "
		"each thread has 4; watch a smaller part");
	locations[2].len = 100000;
	assert_error(
		"no hardware slots for awatch *0x3000, 100000 bytes: it needs more "
		"than 32 slots, each thread has 4; watch a smaller part");
}

Test(slots, what_may_suffice)
{
	locations[2].len = 16;
	cr_assert(slots_may_suffice(&locations[2]));
	locations[2].len = 17;
	cr_assert_not(slots_may_suffice(&locations[2]));
	locations[1].type = BREAKPOINT_SOFTWARE;
	cr_assert(slots_may_suffice(&locations[2]));
}
