/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/monitor/access_table.h"

#include <stdlib.h>

static struct access_row *row_of(struct table_entry *entry)
{
	return (struct access_row *)((char *)entry -
				     offsetof(struct access_row, by_pc));
}

void access_table_deinit(struct access_table *table)
{
	table_deinit(&table->by_pc);
	for (size_t i = 0; i < table->count; i++)
		free(table->rows[i]);
	*table = (struct access_table){0};
}

static struct access_row *find(const struct access_table *table, uint64_t pc, pid_t tid,
			       unsigned int part)
{
	struct table_entry *entry = table_find(&table->by_pc, pc);

	while (entry && (row_of(entry)->tid != tid || row_of(entry)->part != part))
		entry = table_find_next(entry);
	return entry ? row_of(entry) : NULL;
}

/* NULL: there is no room. */
static struct access_row *add(struct access_table *table, uint64_t pc, pid_t tid,
			      unsigned int part)
{
	struct access_row *row =
		table->count < ACCESS_ROWS_MAX ? calloc(1, sizeof(*row)) : NULL;

	if (!row)
		return NULL;
	row->pc = pc;
	row->tid = tid;
	row->part = part;
	table->rows[table->count++] = row;
	table_insert(&table->by_pc, &row->by_pc, pc);
	return row;
}

static bool is_same(const struct access_change *a, const struct access_change *b)
{
	return a->has_before == b->has_before && a->has_value == b->has_value &&
	       a->before == b->before && a->value == b->value;
}

static void count_change(struct access_row *row, const struct access_change *change)
{
	unsigned int i = 0;

	while (i < row->nchanges && !is_same(&row->changes[i], change))
		i++;
	if (i == ACCESS_CHANGES_MAX) {
		row->others++;
		return;
	}
	if (i == row->nchanges) {
		row->changes[row->nchanges++] = *change;
		row->changes[i].count = 0;
	}
	row->changes[i].count++;
}

void access_table_count(struct access_table *table, uint64_t pc, pid_t tid,
			unsigned int part, const struct access_change *change)
{
	struct access_row *row = find(table, pc, tid, part);

	if (!row)
		row = add(table, pc, tid, part);
	if (!row) {
		table->beyond++;
		return;
	}
	row->count++;
	count_change(row, change);
}

/* ---- the order ---- */

static int by_number(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_rows(const void *a, const void *b)
{
	const struct access_row *first = *(struct access_row *const *)a;
	const struct access_row *second = *(struct access_row *const *)b;
	int order = by_number(second->count, first->count);

	if (order == 0)
		order = by_number(first->pc, second->pc);
	if (order == 0)
		order = by_number((uint64_t)first->tid, (uint64_t)second->tid);
	return order == 0 ? by_number(first->part, second->part) : order;
}

static int compare_changes(const void *a, const void *b)
{
	const struct access_change *first = a, *second = b;
	int order = by_number(second->count, first->count);

	if (order == 0)
		order = by_number(first->before, second->before);
	return order == 0 ? by_number(first->value, second->value) : order;
}

void access_table_sort(struct access_table *table)
{
	qsort(table->rows, table->count, sizeof(table->rows[0]), compare_rows);
	for (size_t i = 0; i < table->count; i++)
		qsort(table->rows[i]->changes, table->rows[i]->nchanges,
		      sizeof(table->rows[i]->changes[0]), compare_changes);
}
