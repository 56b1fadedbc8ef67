/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/base/table.h"

#include <criterion/criterion.h>
#include <stdlib.h>

struct item {
	struct table_entry entry;
	unsigned int number;
};

static struct item *find(const struct table *table, uint64_t key)
{
	return (struct item *)table_find(table, key);
}

Test(table, an_empty_one_has_nothing)
{
	struct table table = {0};

	cr_expect_null(table_find(&table, 0));
	cr_expect_null(table_find(&table, UINT64_MAX));
	table_deinit(&table);
}

Test(table, finds_what_was_inserted_while_it_grows)
{
	enum { COUNT = 5000 };
	struct item *items = calloc(COUNT, sizeof(*items));
	struct table table = {0};

	cr_assert(items);
	for (unsigned int i = 0; i < COUNT; i++) {
		items[i].number = i;
		table_insert(&table, &items[i].entry, (uint64_t)i << 40 | i);
		cr_assert_eq(find(&table, (uint64_t)i << 40 | i), &items[i]);
	}
	for (unsigned int i = 0; i < COUNT; i++)
		cr_assert_eq(find(&table, (uint64_t)i << 40 | i), &items[i], "%u", i);
	cr_expect_eq(table.count, COUNT);
	cr_expect_null(find(&table, COUNT));
	table_deinit(&table);
	free(items);
}

Test(table, finds_nothing_that_was_removed)
{
	enum { COUNT = 300 };
	static struct item items[COUNT];
	struct table table = {0};

	for (unsigned int i = 0; i < COUNT; i++)
		table_insert(&table, &items[i].entry, i);
	for (unsigned int i = 0; i < COUNT; i += 2)
		table_remove(&table, &items[i].entry);
	for (unsigned int i = 0; i < COUNT; i++)
		cr_expect_eq(find(&table, i), i % 2 ? &items[i] : NULL, "%u", i);
	for (unsigned int i = 0; i < COUNT; i += 2)
		table_insert(&table, &items[i].entry, i + COUNT);
	for (unsigned int i = 0; i < COUNT; i += 2)
		cr_expect_eq(find(&table, i + COUNT), &items[i], "%u", i);
	cr_expect_eq(table.count, COUNT);
	table_deinit(&table);
}

/* Before it grows, and after that. */
Test(table, equal_keys_are_found_in_the_order_in_which_they_came)
{
	enum { COUNT = 200, KEYS = 3 };
	static struct item items[COUNT];
	unsigned int next[KEYS] = {0, 1, 2};
	struct table table = {0};

	for (unsigned int i = 0; i < COUNT; i++) {
		items[i].number = i;
		table_insert(&table, &items[i].entry, i % KEYS);
	}
	for (uint64_t key = 0; key < KEYS; key++) {
		const struct table_entry *entry = table_find(&table, key);

		for (; entry; entry = table_find_next(entry)) {
			cr_expect_eq(((const struct item *)entry)->number, next[key]);
			next[key] += KEYS;
		}
		cr_expect_geq(next[key], COUNT);
	}
	table_deinit(&table);
}

Test(table, the_one_found_may_be_removed_while_going_on)
{
	enum { COUNT = 100 };
	static struct item items[COUNT];
	struct table table = {0};
	struct table_entry *entry, *next;
	unsigned int seen = 0;

	for (unsigned int i = 0; i < COUNT; i++)
		table_insert(&table, &items[i].entry, 7);
	for (entry = table_find(&table, 7); entry; entry = next) {
		next = table_find_next(entry);
		table_remove(&table, entry);
		seen++;
	}
	cr_expect_eq(seen, COUNT);
	cr_expect_eq(table.count, 0);
	cr_expect_null(table_find(&table, 7));
	table_deinit(&table);
}

Test(table, removing_what_is_not_there_changes_nothing)
{
	struct item in = {0}, out = {.entry = {.key = 1}};
	struct table table = {0};

	table_insert(&table, &in.entry, 1);
	table_remove(&table, &out.entry);
	cr_expect_eq(table.count, 1);
	cr_expect_eq(find(&table, 1), &in);
	table_deinit(&table);
}
