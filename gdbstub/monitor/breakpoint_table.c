/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/monitor/breakpoint_table.h"

#include <inttypes.h>
#include <string.h>

#include "gdbstub/agent/print.h"
#include "gdbstub/symbols/symbols.h"
#include "gdbstub/locations/ignore.h"
#include "gdbstub/locations/location.h"
#include "gdbstub/monitor/breakpoint_list.h"
#include "gdbstub/monitor/note.h"
#include "gdbstub/monitor/text_table.h"
#include "gdbstub/monitor/thread_table.h"

enum {
	COLUMN_NUMBER,
	COLUMN_PROCESS,
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

static const struct column columns[NCOLUMNS] = {
	[COLUMN_NUMBER] = {"Num", SCOLS_FL_RIGHT},
	[COLUMN_PROCESS] = {"Process", SCOLS_FL_RIGHT}, /* if there are several */
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
		buffer_printf(out, "%d", location->shown_number);
		break;
	case COLUMN_PROCESS:
		buffer_printf(out, "%d", (int)location->inferior->pid);
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

/* Symbols of the process whose locations are shown, one after the other. */
struct shown_symbols {
	struct symbols *symbols;
	const struct inferior *of;
	struct buffer unread;
};

static void shown_symbols_end(struct shown_symbols *shown)
{
	symbols_print_unread(shown->symbols, &shown->unread);
	symbols_destroy(shown->symbols);
	shown->symbols = NULL;
}

static void shown_symbols_deinit(struct shown_symbols *shown)
{
	symbols_destroy(shown->symbols);
	buffer_deinit(&shown->unread);
}

static struct symbols *symbols_for(struct shown_symbols *shown,
				   const struct location *location)
{
	if (shown->of != location->inferior) {
		shown_symbols_end(shown);
		shown->symbols = symbols_create(location->inferior);
		shown->of = location->inferior;
	}
	return shown->symbols;
}

static void append_table(const struct breakpoint_list *list, struct buffer *out)
{
	struct libscols_table *table _cleanup_(text_table_unref) =
		text_table_create(columns, NCOLUMNS);
	_cleanup_(shown_symbols_deinit) struct shown_symbols shown = {0};
	struct location *location;

	if (!table)
		return;
	if (!list->several)
		scols_column_set_flags(scols_table_get_column(table, COLUMN_PROCESS),
				       SCOLS_FL_HIDDEN);
	FOREACH_SHOWN(location, list)
	add_row(table, location, symbols_for(&shown, location));
	text_table_append(table, out);
	shown_symbols_end(&shown);
	buffer_append_string(out, buffer_string(&shown.unread));
}

/* ---- what the table does not tell ---- */

static void append_notes(const struct breakpoint_list *list, struct buffer *out)
{
	struct location *location;

	for (int i = 0; i < NOTE_KINDS; i++) {
		FOREACH_SHOWN(location, list)
		{
			_cleanup_buffer_ struct buffer text = {0};

			note_append((enum note_kind)i, location, &text);
			if (text.len == 0)
				continue;
			breakpoint_list_name(list, location, out);
			buffer_printf(out, "%s%s\n", i == NOTE_FATE ? ": " : " ",
				      buffer_string(&text));
		}
	}
}

void breakpoints_print(struct inferiors *inferiors, bool all, struct buffer *out)
{
	struct breakpoint_list list;

	breakpoint_list_init(&list, inferiors, all);
	if (!breakpoint_list_next(&list, NULL)) {
		buffer_append_string(out, "No breakpoints or watchpoints.\n");
		return;
	}
	append_table(&list, out);
	append_notes(&list, out);
	thread_table_append(&list, out);
}
