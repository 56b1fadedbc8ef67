/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of `monitor breakpoints`: the locations, and the threads that hit them. */
#include "gdbstub/monitor/breakpoint_table.h"

#include <inttypes.h>
#include <libsmartcols.h>

#include "gdbstub/agent/print.h"
#include "gdbstub/symbols/symbols.h"
#include "gdbstub/inferior/thread.h"
#include "gdbstub/locations/carrier.h"
#include "gdbstub/locations/ignore.h"
#include "gdbstub/text/trap_inspection.h"
#include "gdbstub/locations/location.h"
#include "gdbstub/breakpoints/share.h"

enum {
	COLUMN_NUMBER,
	COLUMN_WHAT,
	COLUMN_ADDRESS,
	COLUMN_SYMBOL,
	COLUMN_ENGINE,
	COLUMN_DECIDED,
	COLUMN_HITS,
	COLUMN_FALSE,
	COLUMN_TRUE,
	COLUMN_MAYBE,
	COLUMN_IGNORED,
	COLUMN_CONDITION,
	NCOLUMNS
};

struct column {
	const char *title;
	int flags;
};

static const struct column columns[NCOLUMNS] = {
	[COLUMN_NUMBER] = {"Num", SCOLS_FL_RIGHT},
	[COLUMN_WHAT] = {"What", 0},
	[COLUMN_ADDRESS] = {"Address", 0},
	[COLUMN_SYMBOL] = {"Symbol", 0},
	[COLUMN_ENGINE] = {"Engine", 0},
	[COLUMN_DECIDED] = {"Decided by", 0},
	[COLUMN_HITS] = {"Hits", SCOLS_FL_RIGHT},
	[COLUMN_FALSE] = {"False", SCOLS_FL_RIGHT},
	[COLUMN_TRUE] = {"True", SCOLS_FL_RIGHT},
	[COLUMN_MAYBE] = {"Maybe", SCOLS_FL_RIGHT},
	[COLUMN_IGNORED] = {"Ignored", SCOLS_FL_RIGHT},
	[COLUMN_CONDITION] = {"Condition; commands", 0},
};

enum {
	THREAD_NUMBER,
	THREAD_NAME,
	THREAD_HITS,
	THREAD_FALSE,
	THREAD_TRUE,
	THREAD_MAYBE,
	NTHREAD_COLUMNS
};

static const struct column thread_columns[NTHREAD_COLUMNS] = {
	[THREAD_NUMBER] = {"Num", SCOLS_FL_RIGHT},
	[THREAD_NAME] = {"Thread", 0},
	[THREAD_HITS] = {"Hits", SCOLS_FL_RIGHT},
	[THREAD_FALSE] = {"False", SCOLS_FL_RIGHT},
	[THREAD_TRUE] = {"True", SCOLS_FL_RIGHT},
	[THREAD_MAYBE] = {"Maybe", SCOLS_FL_RIGHT},
};

static void unref_table(struct libscols_table **table)
{
	scols_unref_table(*table);
}

/* NULL: out of memory. */
static struct libscols_table *table_create(const struct column *cols, int count)
{
	struct libscols_table *table = scols_new_table();

	if (!table)
		return NULL;
	scols_table_enable_maxout(table, 0);
	for (int i = 0; i < count; i++)
		scols_table_new_column(table, cols[i].title, 0, cols[i].flags);
	return table;
}

static void table_append(struct libscols_table *table, struct buffer *out)
{
	_cleanup_free_ char *text = NULL;

	if (scols_print_table_to_string(table, &text) == 0)
		buffer_append_string(out, text);
	buffer_append_char(out, '\n');
}

static void append_expressions(struct buffer *out, const struct location *location)
{
	const struct agent_list *conditions = &location->conditions;
	const struct agent_list *commands = &location->commands.list;
	const struct arch_ops *arch = location->inferior->arch;

	/* A user who has set one is to see that gdb has kept it to itself. */
	if (conditions->count == 0 && commands->count == 0)
		buffer_append_string(out, "gdb sent no condition");
	for (size_t i = 0; i < conditions->count; i++) {
		buffer_append_string(out, i > 0 ? " || " : "");
		agent_expr_print(conditions->exprs[i], arch, out);
	}
	for (size_t i = 0; i < commands->count; i++) {
		if (i > 0 || conditions->count > 0)
			buffer_append_string(out, "; ");
		agent_expr_print(commands->exprs[i], arch, out);
	}
}

static void append_engine(struct buffer *out, const struct location *location)
{
	if (location->state == LOCATION_OUT) {
		buffer_append_string(out, "none");
		return;
	}
	buffer_append_string(out, location->engine->ops->name);
}

static void append_decided(struct buffer *out, const struct location *location)
{
	if (location->state != LOCATION_OUT)
		location->engine->ops->describe(location->engine, location, out);
}

static void append_cell(struct buffer *out, int column, struct location *location,
			const struct hit_counts *counts, struct symbols *symbols)
{
	switch (column) {
	case COLUMN_NUMBER:
		buffer_printf(out, "%u", location->number);
		break;
	case COLUMN_WHAT:
		buffer_append_string(out, breakpoint_type_name(location->type));
		break;
	case COLUMN_ADDRESS:
		buffer_printf(out, "0x%" PRIx64, location->addr);
		break;
	case COLUMN_SYMBOL:
		symbols_print(symbols, location->addr, out);
		break;
	case COLUMN_ENGINE:
		append_engine(out, location);
		break;
	case COLUMN_DECIDED:
		append_decided(out, location);
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
	case COLUMN_IGNORED:
		buffer_append_count(out, ignore_gate(location)->ignored);
		break;
	case COLUMN_CONDITION:
		append_expressions(out, location);
		break;
	default:
		break;
	}
}

static void add_row(struct libscols_table *table, struct location *location,
		    struct symbols *symbols)
{
	struct libscols_line *line = scols_table_new_line(table, NULL);
	struct hit_counts counts = location_count(location);

	if (!line)
		return;
	for (int i = 0; i < NCOLUMNS; i++) {
		struct buffer cell _cleanup_buffer_ = {0};

		append_cell(&cell, i, location, &counts, symbols);
		scols_line_set_data(line, (size_t)i, buffer_string(&cell));
	}
}

/* Why an engine that the user may not expect serves a location. */
static void append_reasons(struct breakpoints *breakpoints, struct buffer *out)
{
	const struct location *location;

	TAILQ_FOREACH (location, &breakpoints->locations, link) {
		if (location->why)
			buffer_printf(out, "%s %u is served by %s: %s\n",
				      breakpoint_type_name(location->type),
				      location->number, location->engine->ops->name,
				      location->why);
	}
}

/* Traps that the program has taken out of memory, or along with it. */
static void append_fates(struct breakpoints *breakpoints, struct buffer *out)
{
	const struct location *location;

	TAILQ_FOREACH (location, &breakpoints->locations, link) {
		_cleanup_buffer_ struct buffer text = {0};

		location_print_fate(location, &text);
		if (text.len > 0)
			buffer_printf(out, "%s %u: %s\n",
				      breakpoint_type_name(location->type),
				      location->number, buffer_string(&text));
	}
}

/* Watchpoints that do not see what system calls write. */
static void append_unseen(struct breakpoints *breakpoints, struct buffer *out)
{
	const struct location *location;

	TAILQ_FOREACH (location, &breakpoints->locations, link) {
		const struct location *carrier = share_carrier(location);
		const struct engine *engine =
			carrier ? carrier->engine : location->engine;
		const char *why = location->type == WATCHPOINT_WRITE &&
						  location->state != LOCATION_OUT
					  ? engine_no_kernel_hits(engine)
					  : NULL;

		if (why)
			buffer_printf(out,
				      "%s %u has no hits by writes of system calls: "
				      "%s\n",
				      breakpoint_type_name(location->type),
				      location->number, why);
	}
}

/* What is set by `monitor ignore` and `monitor count`. */
static void append_ignored(struct breakpoints *breakpoints, struct buffer *out)
{
	struct location *location;

	TAILQ_FOREACH (location, &breakpoints->locations, link) {
		_cleanup_buffer_ struct buffer text = {0};

		ignore_describe(location, &text);
		if (text.len > 0)
			buffer_printf(out, "%s %u %s\n",
				      breakpoint_type_name(location->type),
				      location->number, buffer_string(&text));
	}
}

/* As gdb names it: PID.TID. */
static void append_thread(struct buffer *out, struct inferior *inferior, pid_t tid)
{
	if (tid == 0) {
		buffer_append_string(out, "other threads");
		return;
	}
	buffer_printf(out, "%d.%d", inferior->pid, tid);
	if (!inferior_thread(inferior, tid))
		buffer_append_string(out, " (ended)");
}

static void append_thread_cell(struct buffer *out, int column,
			       const struct location *location,
			       const struct thread_counts *thread)
{
	const struct hit_counts *counts = &thread->counts;

	switch (column) {
	case THREAD_NUMBER:
		buffer_printf(out, "%u", location->number);
		break;
	case THREAD_NAME:
		append_thread(out, location->inferior, thread->tid);
		break;
	case THREAD_HITS:
		buffer_append_count(out, counts->hits);
		break;
	case THREAD_FALSE:
		buffer_append_count(out, counts->hits - counts->trues);
		break;
	case THREAD_TRUE:
		buffer_append_count(out, counts->trues);
		break;
	case THREAD_MAYBE:
		buffer_append_count(out, counts->maybes);
		break;
	default:
		break;
	}
}

static void add_thread(struct libscols_table *table, const struct location *location,
		       const struct thread_counts *thread)
{
	struct libscols_line *line = scols_table_new_line(table, NULL);

	for (int i = 0; line && i < NTHREAD_COLUMNS; i++) {
		_cleanup_buffer_ struct buffer cell = {0};

		append_thread_cell(&cell, i, location, thread);
		scols_line_set_data(line, (size_t)i, buffer_string(&cell));
	}
}

/* Of a location that but one thread has hit, the first table says all. */
static void add_threads(struct libscols_table *table, const struct location *location)
{
	struct thread_counts others = {0};
	struct counts counts = location_counts(location);

	others.counts = counts.others;
	if (counts.count + (others.counts.hits > 0) > 1) {
		for (size_t i = 0; i < counts.count; i++)
			add_thread(table, location, &counts.threads[i]);
		if (others.counts.hits > 0)
			add_thread(table, location, &others);
	}
	counts_clear(&counts);
}

static void append_threads(struct breakpoints *breakpoints, struct buffer *out)
{
	struct libscols_table *table _cleanup_(unref_table) =
		table_create(thread_columns, NTHREAD_COLUMNS);
	const struct location *location;

	if (!table)
		return;
	TAILQ_FOREACH (location, &breakpoints->locations, link)
		add_threads(table, location);
	if (scols_table_is_empty(table))
		return;
	buffer_append_char(out, '\n');
	table_append(table, out);
}

void breakpoints_print(struct breakpoints *breakpoints, struct buffer *out)
{
	struct libscols_table *table _cleanup_(unref_table) =
		table_create(columns, NCOLUMNS);
	struct location *location;
	struct symbols *symbols;

	if (TAILQ_EMPTY(&breakpoints->locations)) {
		buffer_append_string(out, "No breakpoints or watchpoints.\n");
		return;
	}
	if (!table)
		return;
	symbols = symbols_create(breakpoints->inferior);
	TAILQ_FOREACH (location, &breakpoints->locations, link)
		add_row(table, location, symbols);
	table_append(table, out);
	symbols_print_unread(symbols, out);
	symbols_destroy(symbols);
	append_reasons(breakpoints, out);
	append_fates(breakpoints, out);
	append_unseen(breakpoints, out);
	append_ignored(breakpoints, out);
	append_threads(breakpoints, out);
}
