/* SPDX-License-Identifier: BSD-2-Clause */
/* The numbers by which users know locations. */
#include <criterion/criterion.h>
#include <link.h>
#include <string.h>

#include "gdbstub/locations/location_name.h"
#include "gdbstub/locations/numbers.h"

/* Three processes, of the same program at first: ourselves. */
static struct inferiors inferiors;
static struct engines engines;
static struct inferior processes[3];
static struct breakpoints breakpoints[3];
static struct location places[4];

static void add(unsigned int process, struct location *location, uint64_t addr)
{
	location->inferior = &processes[process];
	location->addr = addr;
	TAILQ_INSERT_TAIL(&breakpoints[process].locations, location, link);
}

static void begin(void)
{
	TAILQ_INIT(&inferiors.list);
	for (unsigned int i = 0; i < 3; i++) {
		processes[i] = (struct inferior){.pid = getpid(),
						 .owner = &inferiors,
						 .breakpoints = &breakpoints[i]};
		breakpoints[i] = (struct breakpoints){.inferior = &processes[i],
						      .engines = &engines};
		TAILQ_INIT(&breakpoints[i].locations);
		TAILQ_INSERT_TAIL(&inferiors.list, &processes[i], link);
	}
}

static void end(void)
{
	free(engines.numbers.rows);
}

TestSuite(numbers, .init = begin, .fini = end);

Test(numbers, are_given_when_they_are_shown)
{
	add(0, &places[0], 0x1000);
	add(0, &places[1], 0x2000);
	TAILQ_REMOVE(&breakpoints[0].locations, &places[0], link);
	numbers_give(&breakpoints[0]);
	cr_expect_eq(places[1].shown_number, 1, "what is gone takes none");
	add(0, &places[2], 0x3000);
	numbers_give(&breakpoints[0]);
	cr_expect_eq(places[1].shown_number, 1);
	cr_expect_eq(places[2].shown_number, 2);
}

Test(numbers, are_kept_for_what_comes_again)
{
	add(0, &places[0], 0x1000);
	add(0, &places[1], 0x2000);
	numbers_give(&breakpoints[0]);
	TAILQ_REMOVE(&breakpoints[0].locations, &places[0], link);
	add(0, &places[2], 0x1000);
	places[3].type = BREAKPOINT_HARDWARE;
	add(0, &places[3], 0x1000);
	numbers_give(&breakpoints[0]);
	cr_expect_eq(places[2].shown_number, 1, "an equal one");
	cr_expect_eq(places[3].shown_number, 3, "one of another type");
	cr_expect_eq(numbers_of(&breakpoints[0], BREAKPOINT_SOFTWARE, 0x2000, 1), 2);
	cr_expect_eq(numbers_of(&breakpoints[0], WATCHPOINT_WRITE, 0x2000, 4), 4);
	cr_expect_eq(numbers_of(&breakpoints[0], WATCHPOINT_WRITE, 0x2000, 8), 5);
	cr_expect_eq(numbers_of(&breakpoints[0], WATCHPOINT_WRITE, 0x2000, 4), 4);
}

Test(numbers, mean_one_place_of_a_program)
{
	add(0, &places[0], 0x1000);
	add(1, &places[1], 0x1000);
	add(1, &places[2], 0x2000);
	numbers_give(&breakpoints[0]);
	numbers_give(&breakpoints[1]);
	cr_expect_eq(places[0].shown_number, 1);
	cr_expect_eq(places[1].shown_number, 1, "the same program");
	cr_expect_eq(places[2].shown_number, 2);
}

Test(numbers, of_several_programs_differ)
{
	add(0, &places[0], 0x1000);
	add(1, &places[1], 0x1000);
	breakpoints[1].program = 7;
	numbers_give(&breakpoints[0]);
	numbers_give(&breakpoints[1]);
	cr_expect_eq(places[0].shown_number, 1);
	cr_expect_eq(places[1].shown_number, 2);
	numbers_forget_program(&breakpoints[1]);
	places[1].shown_number = 0;
	numbers_give(&breakpoints[1]);
	cr_expect_eq(places[1].shown_number, 1, "it executes the other one now");
}

Test(numbers, of_gdbs_own_are_below_0)
{
	add(0, &places[0], 0x1000);
	add(0, &places[1], _r_debug.r_brk);
	numbers_give(&breakpoints[0]);
	cr_expect_eq(places[0].shown_number, 1);
	cr_expect_eq(places[1].shown_number, -1);
	cr_expect(location_is_gdbs(&places[1]));
	cr_expect_not(location_is_gdbs(&places[0]));
	places[1].asked.count = 1; /* the user wants one there, too */
	numbers_give(&breakpoints[0]);
	cr_expect_eq(places[1].shown_number, 2);
	places[1].asked.count = 0;
	numbers_give(&breakpoints[0]);
	cr_expect_eq(places[1].shown_number, -1);
}

static struct location *find(unsigned int process, const char *text)
{
	struct location *location = NULL;
	struct error *error = location_named(&processes[process], text, &location);

	cr_assert_null(error, "%s: %s", text, error ? error_text(error) : "");
	return location;
}

/* A name means a location of the current process, or else the only one of all. */
Test(numbers, of_other_processes)
{
	struct location *location = NULL;
	struct error *error _cleanup_error_ = NULL;

	add(0, &places[0], 0x1000);
	add(1, &places[1], 0x1000);
	add(1, &places[2], 0x2000);
	cr_expect_eq(find(0, "1"), &places[0]);
	cr_expect_eq(find(1, "1"), &places[1]);
	cr_expect_eq(find(0, "2"), &places[2]);
	cr_expect_eq(find(0, "*0x2000"), &places[2]);
	add(0, &places[3], _r_debug.r_brk);
	cr_expect_eq(find(1, "-1"), &places[3]);
	error = location_named(&processes[2], "1", &location);
	cr_assert_not_null(error);
	cr_expect_not_null(strstr(error_text(error), "several processes have"), "%s",
			   error_text(error));
}

/* More than are remembered: those that are there keep theirs. */
Test(numbers, of_many)
{
	add(0, &places[0], 0x1000);
	numbers_give(&breakpoints[0]);
	for (unsigned int i = 0; i < NUMBERS_KEPT; i++)
		numbers_of(&breakpoints[0], WATCHPOINT_WRITE, i, 1);
	numbers_give(&breakpoints[0]);
	cr_expect_eq(places[0].shown_number, 1);
	add(0, &places[1], 0x5000);
	numbers_give(&breakpoints[0]);
	cr_expect_eq(places[1].shown_number, NUMBERS_KEPT + 2);
}
