/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of `monitor breakpoints`. */
#include <inttypes.h>
#include <libsmartcols.h>

#include "inferior/symbols.h"
#include "stops/location.h"

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
	COLUMN_CONDITION,
	NCOLUMNS
};

static const struct {
	const char *title;
	int flags;
} columns[NCOLUMNS] = {
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
	[COLUMN_CONDITION] = {"Condition; commands", 0},
};

static void unref_table(struct libscols_table **table)
{
	scols_unref_table(*table);
}

static void append_expressions(struct buffer *out, const struct location *location)
{
	const struct agent_list *conditions = &location->conditions;
	const struct agent_list *commands = &location->commands.list;
	const struct arch_ops *arch = location->inferior->arch;

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

static void append_cell(struct buffer *out, int column, const struct location *location,
			const struct location_counts *counts, struct symbols *symbols)
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
	case COLUMN_CONDITION:
		append_expressions(out, location);
		break;
	default:
		break;
	}
}

static void add_row(struct libscols_table *table, const struct location *location,
		    struct symbols *symbols)
{
	struct libscols_line *line = scols_table_new_line(table, NULL);
	struct location_counts counts = location_count(location);

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
			buffer_printf(out, "%s *0x%" PRIx64 " is served by %s: %s\n",
				      breakpoint_type_name(location->type),
				      location->addr, location->engine->ops->name,
				      location->why);
	}
}

void breakpoints_print(struct breakpoints *breakpoints, struct buffer *out)
{
	struct libscols_table *table _cleanup_(unref_table) = scols_new_table();
	_cleanup_free_ char *text = NULL;
	const struct location *location;
	struct symbols *symbols;

	if (TAILQ_EMPTY(&breakpoints->locations)) {
		buffer_append_string(out, "No breakpoints or watchpoints.\n");
		return;
	}
	if (!table)
		return;
	scols_table_enable_maxout(table, 0);
	for (int i = 0; i < NCOLUMNS; i++)
		scols_table_new_column(table, columns[i].title, 0, columns[i].flags);
	symbols = symbols_create(breakpoints->inferior);
	TAILQ_FOREACH (location, &breakpoints->locations, link)
		add_row(table, location, symbols);
	symbols_destroy(symbols);
	if (scols_print_table_to_string(table, &text) == 0)
		buffer_append_string(out, text);
	buffer_append_char(out, '\n');
	append_reasons(breakpoints, out);
}
