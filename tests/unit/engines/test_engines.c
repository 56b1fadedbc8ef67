/* SPDX-License-Identifier: BSD-2-Clause */
/* What the user is told is missing. */
#include "gdbstub/engines/engines.h"

#include <criterion/criterion.h>
#include <string.h>

static struct engines engines;

/* Those that are not usable, by their initials. */
static void lack(const char *initials)
{
	static const char known[NENGINES + 1] = "updis";
	static const char *const why[NENGINES] = {"no rights", "no program", "no fire",
						  "no trap", "none shares"};

	engines_init(&engines, NULL, NULL);
	for (int i = 0; i < NENGINES; i++) {
		struct engine *engine = &engines.engine[i];

		error_destroy(engine->unusable);
		engine->unusable = strchr(initials, known[i])
					   ? error_create(0, "%s", why[i])
					   : NULL;
	}
}

static void clear(void)
{
	for (int i = 0; i < NENGINES; i++)
		error_destroy(engines.engine[i].unusable);
}

TestSuite(engines, .fini = clear);

/* NULL: nothing. */
static void expect_told(const char *conditions, const char *slots)
{
	_cleanup_error_ struct error *of_conditions = engines_lack_conditions(&engines);
	_cleanup_error_ struct error *of_slots = engines_lack_slots(&engines);

	cr_assert_eq(of_conditions != NULL, conditions != NULL);
	cr_assert_eq(of_slots != NULL, slots != NULL);
	if (conditions)
		cr_expect_str_eq(error_text(of_conditions), conditions);
	if (slots)
		cr_expect_str_eq(error_text(of_slots), slots);
}

Test(engines, nothing_is_missing)
{
	lack("");
	expect_told(NULL, NULL);
}

/* Software breakpoints have slots, too, as far as these go. */
Test(engines, no_uprobes)
{
	lack("u");
	expect_told(NULL, NULL);
}

Test(engines, no_programs_in_the_kernel)
{
	lack("up");
	expect_told("conditions are not evaluated in the kernel, so that every hit "
		    "stops the program for a moment: no program",
		    NULL);
}

Test(engines, uprobes_alone)
{
	lack("pds");
	expect_told(NULL, "hardware breakpoints and watchpoints are not available: no "
			  "fire");
}

Test(engines, programs_at_uprobes_only)
{
	lack("p");
	expect_told("conditions of hardware breakpoints and watchpoints are not "
		    "evaluated in the kernel, so that every hit of theirs stops the "
		    "program for a moment: no program",
		    NULL);
}

Test(engines, traps_alone)
{
	lack("upds");
	expect_told("conditions are not evaluated in the kernel, so that every hit "
		    "stops the program for a moment: no program",
		    "hardware breakpoints and watchpoints are not available: no fire");
}
