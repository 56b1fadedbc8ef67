/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/monitor/stats.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/base/json_writer.h"
#include "gdbstub/control/pace.h"
#include "gdbstub/monitor/breakpoint_list.h"
#include "gdbstub/monitor/location_json.h"
#include "gdbstub/monitor/text_table.h"
#include "gdbstub/symbols/symbols.h"

enum {
	COLUMN_NUMBER,
	COLUMN_PROCESS,
	COLUMN_WHAT,
	COLUMN_PLACE,
	COLUMN_ENGINE,
	COLUMN_SECONDS,
	COLUMN_HITS,
	COLUMN_FALSE,
	COLUMN_TRUE,
	COLUMN_PACE,
	NCOLUMNS
};

static const struct column columns[NCOLUMNS] = {
	[COLUMN_NUMBER] = {"Num", SCOLS_FL_RIGHT},
	[COLUMN_PROCESS] = {"Process", SCOLS_FL_RIGHT}, /* if there are several */
	[COLUMN_WHAT] = {"What", 0},
	[COLUMN_PLACE] = {"Place", 0},
	[COLUMN_ENGINE] = {"Engine", 0},
	[COLUMN_SECONDS] = {"Seconds", SCOLS_FL_RIGHT},
	[COLUMN_HITS] = {"Hits", SCOLS_FL_RIGHT},
	[COLUMN_FALSE] = {"False", SCOLS_FL_RIGHT},
	[COLUMN_TRUE] = {"True", SCOLS_FL_RIGHT},
	[COLUMN_PACE] = {"Hits/s", SCOLS_FL_RIGHT},
};

/* ---- names ---- */

static void name(struct location *location, struct symbols *symbols)
{
	_cleanup_buffer_ struct buffer text = {0};

	symbols_print(symbols, location->addr, &text);
	if (text.len == 0)
		buffer_printf(&text, "*0x%" PRIx64, location->addr);
	free(location->place);
	location->place = strdup(buffer_string(&text));
}

static void name_all(struct inferior *inferior)
{
	struct symbols *symbols = symbols_create(inferior);
	struct location *location;

	TAILQ_FOREACH (location, &inferior->breakpoints->locations, link)
		name(location, symbols);
	symbols_destroy(symbols);
}

void stats_name(struct inferiors *inferiors)
{
	struct breakpoint_list list;
	struct inferior *inferior;

	breakpoint_list_init(&list, inferiors, false);
	TAILQ_FOREACH (inferior, &inferiors->list, link)
		if (inferior->breakpoints)
			name_all(inferior);
}

/* ---- the table ---- */

/* Negative: no time has passed. */
static double pace_of(const struct count_mark *since)
{
	return since->ran_ns > 0
		       ? (double)since->counts.hits * 1e9 / (double)since->ran_ns
		       : -1;
}

/* What has come since the last look, which is now. */
static struct count_mark look(struct location *location)
{
	const struct count_mark now = pace_mark(location);
	const struct count_mark since = pace_between(&location->shown, &now);

	location->shown = now;
	return since;
}

static void append_place(struct buffer *out, const struct location *location)
{
	if (location->place)
		buffer_append_string(out, location->place);
	else
		buffer_printf(out, "*0x%" PRIx64, location->addr);
}

static void append_pace(struct buffer *out, const struct count_mark *since)
{
	const double pace = pace_of(since);

	if (pace >= 0)
		buffer_append_count(out, (uint64_t)(pace + 0.5));
	else
		buffer_append_char(out, '-');
}

static void append_cell(struct buffer *out, int column, const struct location *location,
			const struct count_mark *since)
{
	const struct hit_counts *counts = &since->counts;

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
	case COLUMN_PLACE:
		append_place(out, location);
		break;
	case COLUMN_ENGINE:
		buffer_append_string(out, location->state == LOCATION_OUT
						  ? "none"
						  : location->engine->ops->name);
		break;
	case COLUMN_SECONDS:
		buffer_printf(out, "%.3f", (double)since->ran_ns / 1e9);
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
	case COLUMN_PACE:
		append_pace(out, since);
		break;
	default:
		break;
	}
}

static void add_row(struct libscols_table *table, struct location *location)
{
	struct libscols_line *line = scols_table_new_line(table, NULL);
	const struct count_mark since = look(location);

	for (int i = 0; line && i < NCOLUMNS; i++) {
		_cleanup_buffer_ struct buffer cell = {0};

		append_cell(&cell, i, location, &since);
		scols_line_set_data(line, (size_t)i, buffer_string(&cell));
	}
}

void stats_print(struct inferiors *inferiors, struct buffer *out)
{
	struct libscols_table *table _cleanup_(text_table_unref) =
		text_table_create(columns, NCOLUMNS);
	struct breakpoint_list list;
	struct location *location;

	if (!table)
		return;
	breakpoint_list_init_known(&list, inferiors, false);
	if (!breakpoint_list_next(&list, NULL)) {
		buffer_append_string(out, "No breakpoints or watchpoints.\n");
		return;
	}
	if (!list.several)
		scols_column_set_flags(scols_table_get_column(table, COLUMN_PROCESS),
				       SCOLS_FL_HIDDEN);
	FOREACH_SHOWN(location, &list)
	add_row(table, location);
	text_table_append(table, out);
}

/* ---- for scripts ---- */

static void write_row(struct json *json, struct location *location)
{
	const struct count_mark since = look(location);

	json_open(json, NULL, '{');
	json_number(json, "number", location->shown_number);
	json_number(json, "process", location->inferior->pid);
	json_text(json, "type", breakpoint_type_name(location->type));
	json_count(json, "address", location->addr);
	json_text(json, "place", location->place);
	location_write_engine(json, location);
	location_write_counts(json, &since.counts);
	json_count(json, "running_ns", since.ran_ns);
	json_count(json, "processors_ns", since.used_ns);
	json_tenths(json, "hits_per_second", pace_of(&since));
	json_close(json, '}');
}

void stats_print_json(struct inferiors *inferiors, struct buffer *out)
{
	struct json json = {out, true};
	struct breakpoint_list list;
	struct location *location;

	breakpoint_list_init_known(&list, inferiors, false);
	json_open(&json, NULL, '{');
	json_open(&json, "stats", '[');
	FOREACH_SHOWN(location, &list)
	write_row(&json, location);
	json_close(&json, ']');
	json_close(&json, '}');
	buffer_append_char(out, '\n');
}
