/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/monitor/thread_table.h"

#include <stdlib.h>

#include "gdbstub/inferior/thread.h"
#include "gdbstub/locations/counts.h"
#include "gdbstub/monitor/text_table.h"

enum {
	COLUMN_NUMBER,
	COLUMN_THREAD,
	COLUMN_HITS,
	COLUMN_FALSE,
	COLUMN_TRUE,
	COLUMN_MAYBE,
	NCOLUMNS
};

static const struct column columns[NCOLUMNS] = {
	[COLUMN_NUMBER] = {"Num", SCOLS_FL_RIGHT},
	[COLUMN_THREAD] = {"Thread", 0},
	[COLUMN_HITS] = {"Hits", SCOLS_FL_RIGHT},
	[COLUMN_FALSE] = {"False", SCOLS_FL_RIGHT},
	[COLUMN_TRUE] = {"True", SCOLS_FL_RIGHT},
	[COLUMN_MAYBE] = {"Maybe", SCOLS_FL_RIGHT},
};

/* A thread, or several. */
struct row {
	const struct location *location;
	pid_t tid;    /* 0: several */
	size_t count; /* ... so many; 0: nobody knows how many */
	struct hit_counts counts;
};

/* As gdb names it: PID.TID. */
static void append_thread(struct buffer *out, const struct row *row)
{
	struct inferior *inferior = row->location->inferior;

	if (row->tid == 0 && row->count > 0)
		buffer_append_count(out, row->count);
	if (row->tid == 0) {
		buffer_append_string(out, row->count > 0 ? " other threads"
							 : "other threads");
		return;
	}
	buffer_printf(out, "%d.%d", inferior->pid, row->tid);
	if (!inferior_thread(inferior, row->tid))
		buffer_append_string(out, " (ended)");
}

static void append_cell(struct buffer *out, int column, const struct row *row)
{
	const struct hit_counts *counts = &row->counts;

	switch (column) {
	case COLUMN_NUMBER:
		buffer_printf(out, "%d", row->location->shown_number);
		break;
	case COLUMN_THREAD:
		append_thread(out, row);
		break;
	case COLUMN_HITS:
		buffer_append_count(out, counts->hits);
		break;
	case COLUMN_FALSE:
		buffer_append_count(out, counts->hits - counts->trues);
		break;
	case COLUMN_TRUE:
		buffer_append_count(out, counts->trues);
		break;
	case COLUMN_MAYBE:
		buffer_append_count(out, counts->maybes);
		break;
	default:
		break;
	}
}

static void add_row(struct libscols_table *table, const struct row *row)
{
	struct libscols_line *line = scols_table_new_line(table, NULL);

	for (int i = 0; line && i < NCOLUMNS; i++) {
		_cleanup_buffer_ struct buffer cell = {0};

		append_cell(&cell, i, row);
		scols_line_set_data(line, (size_t)i, buffer_string(&cell));
	}
}

/* The busiest first; else, by tid. */
static int compare(const void *a, const void *b)
{
	const struct thread_counts *one = a, *other = b;

	if (one->counts.hits != other->counts.hits)
		return one->counts.hits < other->counts.hits ? 1 : -1;
	return one->tid < other->tid ? -1 : one->tid > other->tid;
}

static void add_counts(struct hit_counts *sum, const struct hit_counts *more)
{
	sum->hits += more->hits;
	sum->trues += more->trues;
	sum->maybes += more->maybes;
}

/* What is told apart, or was so, beyond those that are shown. */
static void add_others(struct libscols_table *table, const struct location *location,
		       const struct counts *counts, size_t shown)
{
	struct row row = {.location = location, .counts = counts->others};

	if (counts->others.hits == 0)
		row.count = counts->count - shown;
	for (size_t i = shown; i < counts->count; i++)
		add_counts(&row.counts, &counts->threads[i].counts);
	if (row.counts.hits > 0)
		add_row(table, &row);
}

/* Of a location that but one thread has hit, the table of locations says all. */
static void add_location(struct libscols_table *table, const struct location *location,
			 bool all)
{
	struct counts counts = location_counts(location);
	size_t shown = counts.count;

	/* One more row is better than a sum of one. */
	if (!all && shown > THREADS_SHOWN + 1)
		shown = THREADS_SHOWN;
	if (counts.count + (counts.others.hits > 0) > 1) {
		qsort(counts.threads, counts.count, sizeof(*counts.threads), compare);
		for (size_t i = 0; i < shown; i++) {
			const struct row row = {.location = location,
						.tid = counts.threads[i].tid,
						.counts = counts.threads[i].counts};

			add_row(table, &row);
		}
		add_others(table, location, &counts, shown);
	}
	counts_clear(&counts);
}

void thread_table_append(const struct breakpoint_list *list, struct buffer *out)
{
	struct libscols_table *table _cleanup_(text_table_unref) =
		text_table_create(columns, NCOLUMNS);
	const struct location *location;

	if (!table)
		return;
	FOREACH_SHOWN(location, list)
	add_location(table, location, list->all);
	if (scols_table_is_empty(table))
		return;
	buffer_append_char(out, '\n');
	text_table_append(table, out);
}
