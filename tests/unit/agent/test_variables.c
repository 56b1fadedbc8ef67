/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "gdbstub/agent/variables.h"
#include "tests/unit/expr.h"

static struct variables variables;

static void end(void)
{
	variables_deinit(&variables);
}

TestSuite(variables, .fini = end);

static void define(unsigned int number, int64_t value, const char *name)
{
	struct error *error = variables_define(&variables, number, value, name);

	cr_assert_null(error, "%s", error ? error_text(error) : "");
}

static void expect(unsigned int number, int64_t value)
{
	uint64_t found = 0;

	cr_assert(variables_get(&variables, number, &found), "there is no %u", number);
	cr_expect_eq((int64_t)found, value, "variable %u is %lld", number,
		     (long long)found);
}

static void expect_none(unsigned int number)
{
	uint64_t value;

	cr_expect_not(variables_get(&variables, number, &value), "there is a %u",
		      number);
}

Test(variables, are_defined_and_set)
{
	expect_none(1);
	define(1, -5, "n");
	define(0xffff, INT64_MIN, NULL);
	expect(1, -5);
	expect(0xffff, INT64_MIN);
	expect_none(2);
	cr_assert_null(variables_set(&variables, 1, 7));
	expect(1, 7);
	define(1, 8, "m");
	expect(1, 8);
}

Test(variables, come_into_being_where_they_are_to_be_set)
{
	struct agent_expr *reads = EXPR(GETV(3), CONST8(1), AGENT_ADD, AGENT_END);
	struct agent_expr *sets = EXPR(CONST8(1), SETV(4), AGENT_END);
	struct agent_list list = {0};

	cr_assert_eq(agent_list_append(&list, reads), 0);
	cr_assert_eq(agent_list_append(&list, sets), 0);
	cr_assert_null(variables_mention(&variables, &list));
	/* What is only read has no value that is known. */
	expect_none(3);
	cr_expect_eq(variable_cell(&variables.own, 3), 0);
	expect(4, 0);
	define(3, 9, NULL);
	cr_assert_null(variables_set(&variables, 4, 5));
	cr_assert_null(variables_mention(&variables, &list));
	expect(3, 9);
	expect(4, 5);
	expect_none(1);
	agent_list_clear(&list);
}

Test(variables, have_a_limit)
{
	_cleanup_error_ struct error *error = NULL;

	for (unsigned int i = 0; i < VARIABLES_MAX; i++)
		define(2 * i, i, NULL);
	error = variables_define(&variables, 1, 0, "one");
	cr_assert_not_null(error);
	cr_expect_str_eq(error_text(error),
			 "there are 256 trace state variables already");
	expect_none(1);
	expect(2 * VARIABLES_MAX - 2, VARIABLES_MAX - 1);
	define(2, 77, NULL);
	expect(2, 77);
}

Test(variables, keep_their_cells_when_they_are_forgotten)
{
	define(5, 50, "five");
	define(6, 60, "six");
	variables_forget(&variables);
	expect_none(5);
	expect_none(6);
	define(6, 1, NULL);
	expect(6, 1);
	expect_none(5);
	cr_expect_eq(variable_cell(&variables.own, 5), 0);
	cr_expect_eq(variable_cell(&variables.own, 6), 1);
	cr_expect_eq(variable_cell(&variables.own, 7), -1);
}

Test(variables, move_to_shared_memory)
{
	struct variable_cells cells = {0};

	define(5, 50, "five");
	variables_share(&variables, &cells);
	expect(5, 50);
	cells.cell[0].value = 51;
	expect(5, 51);
	define(6, 60, NULL);
	cr_expect_eq(cells.count, 2);
	cr_expect_eq(cells.cell[1].number, 6);
	cr_expect_eq(cells.cell[1].value, 60);
}

Test(variables, a_draft_takes_effect_at_its_end)
{
	struct variables_draft draft;
	uint64_t value;

	define(1, 10, NULL);
	variables_draft_init(&draft, &variables);
	cr_expect_eq(variables.own.lock, 0);
	cr_assert_eq(variables_draft_read(&draft, 1, &value), 0);
	cr_expect_eq(value, 10);
	cr_expect_eq(variables.own.lock, 1);
	cr_assert_eq(variables_draft_write(&draft, 1, value + 1), 0);
	cr_assert_eq(variables_draft_read(&draft, 1, &value), 0);
	cr_expect_eq(value, 11);
	expect(1, 10);
	cr_expect_eq(variables_draft_read(&draft, 2, &value), -ENODATA);
	cr_expect_eq(variables_draft_write(&draft, 2, value), -ENODATA);
	variables_draft_commit(&draft);
	expect(1, 11);
	cr_expect_eq(variables.own.lock, 0);
	/* Of one that has used nothing, nothing remains either. */
	variables_draft_init(&draft, &variables);
	variables_draft_commit(&draft);
	expect(1, 11);
	cr_expect_eq(variables.own.lock, 0);
}

Test(variables, table)
{
	_cleanup_buffer_ struct buffer out = {0};

	variables_print(&variables, &out);
	cr_expect_str_eq(buffer_string(&out), "No trace state variables.\n");
	buffer_reset(&out);
	define(1, 3, "count");
	define(12, -4, NULL);
	cr_assert_null(variables_set(&variables, 1, 42));
	variables_print(&variables, &out);
	cr_expect_str_eq(buffer_string(&out), "Num    Initial  Value  Name\n"
					      "1            3     42  $count\n"
					      "12          -4     -4  \n");
}
