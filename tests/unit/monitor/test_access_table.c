/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/monitor/access_table.h"

#include <criterion/criterion.h>

static struct access_table table;

static void end(void)
{
	access_table_deinit(&table);
}

TestSuite(access_table, .fini = end);

static void count(uint64_t pc, pid_t tid, unsigned int part, uint64_t before,
		  uint64_t value)
{
	const struct access_change change = {true, true, before, value, 77};

	access_table_count(&table, pc, tid, part, &change);
}

/* A row for each place, thread and part. */
Test(access_table, rows)
{
	count(10, 1, 0, 0, 1);
	count(10, 2, 0, 0, 1);
	count(10, 1, 1, 0, 1);
	count(11, 1, 0, 0, 1);
	for (int i = 0; i < 2; i++)
		count(10, 2, 0, 0, 1);
	access_table_sort(&table);
	cr_assert_eq(table.count, 4);
	cr_expect_eq(table.rows[0]->tid, 2);
	cr_expect_eq(table.rows[0]->count, 3);
	cr_expect_eq(table.rows[1]->part, 0);
	cr_expect_eq(table.rows[2]->part, 1);
	cr_expect_eq(table.rows[3]->pc, 11);
	cr_expect_eq(table.beyond, 0);
}

/* What is not known is not zero. */
Test(access_table, changes)
{
	const struct access_change unknown = {.has_before = true};

	count(10, 1, 0, 0, 0);
	for (int i = 0; i < 3; i++)
		access_table_count(&table, 10, 1, 0, &unknown);
	access_table_sort(&table);
	cr_assert_eq(table.rows[0]->nchanges, 2);
	cr_expect_eq(table.rows[0]->changes[0].count, 3);
	cr_expect_not(table.rows[0]->changes[0].has_value);
	cr_expect_eq(table.rows[0]->changes[1].count, 1);
}

Test(access_table, more_changes_than_are_kept)
{
	for (uint64_t i = 0; i < ACCESS_CHANGES_MAX + 5; i++)
		count(10, 1, 0, i, i + 1);
	count(10, 1, 0, 0, 1);
	count(10, 1, 0, 100, 101);
	cr_expect_eq(table.rows[0]->nchanges, ACCESS_CHANGES_MAX);
	cr_expect_eq(table.rows[0]->changes[0].count, 2);
	cr_expect_eq(table.rows[0]->others, 6);
	cr_expect_eq(table.rows[0]->count, ACCESS_CHANGES_MAX + 7);
}

Test(access_table, more_rows_than_there_are)
{
	for (uint64_t i = 0; i < ACCESS_ROWS_MAX + 5; i++)
		count(i, 1, 0, 0, 1);
	count(3, 1, 0, 0, 1);
	cr_expect_eq(table.count, ACCESS_ROWS_MAX);
	cr_expect_eq(table.beyond, 5);
	access_table_sort(&table);
	cr_expect_eq(table.rows[0]->pc, 3);
}
