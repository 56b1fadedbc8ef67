/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/monitor/location_json.h"

#include "gdbstub/agent/print.h"
#include "gdbstub/breakpoints/watch.h"
#include "gdbstub/inferior/thread.h"
#include "gdbstub/locations/ignore.h"
#include "bpf/shared/left_over.h"
#include "gdbstub/locations/numbers.h"
#include "gdbstub/monitor/breakpoint_list.h"
#include "gdbstub/monitor/note.h"
#include "gdbstub/pads/location_pad.h"
#include "gdbstub/symbols/symbols.h"

/* ---- which one ---- */

static void write_symbol(struct json *json, const struct location *location,
			 struct symbols *symbols)
{
	_cleanup_buffer_ struct buffer place = {0};
	uint64_t offset = 0;
	const char *name = symbols_name(symbols, location->addr, &offset);

	json_text(json, "symbol", name);
	if (name)
		json_count(json, "offset", offset);
	else
		json_null(json, "offset");
	symbols_print(symbols, location->addr, &place);
	json_text(json, "place", place.len > 0 ? buffer_string(&place) : NULL);
}

void location_write_name(struct json *json, const struct location *location,
			 struct symbols *symbols)
{
	json_number(json, "number", location->shown_number);
	json_number(json, "process", location->inferior->pid);
	json_text(json, "type", breakpoint_type_name(location->type));
	json_count(json, "address", location->addr);
	if (location->type > BREAKPOINT_HARDWARE)
		json_count(json, "length", location->len);
	else
		json_null(json, "length");
	write_symbol(json, location, symbols);
	json_bool(json, "gdbs_own", location_is_gdbs(location));
}

/* ---- who serves it ---- */

static bool leaves_all(const struct location *location)
{
	_cleanup_left_over_ struct left_over left = {0};

	if (!location->engine->ops->left_over)
		return true;
	location->engine->ops->left_over(location->engine, location, &left);
	return left.count > 0 && left.rows[0].kind == LEFT_ALL_HITS;
}

static const char *decider(const struct location *location)
{
	if (watch_tells_all(location))
		return "gdb";
	return leaves_all(location) ? "server" : "kernel";
}

static bool filters(const struct location *location)
{
	const struct location_pad *pad = location->engine->ops->pad
						 ? location->engine->ops->pad(location)
						 : NULL;

	return pad && !location_pad_why_none(pad) && !location_pad_why_no_filter(pad);
}

void location_write_engine(struct json *json, const struct location *location)
{
	_cleanup_buffer_ struct buffer text = {0};

	if (location->state == LOCATION_OUT) {
		json_null(json, "engine");
		json_null(json, "decides");
		json_bool(json, "filter", false);
		json_null(json, "decided_by");
		return;
	}
	location->engine->ops->describe(location->engine, location, &text);
	json_text(json, "engine", location->engine->ops->name);
	json_text(json, "decides", decider(location));
	json_bool(json, "filter", filters(location));
	json_text(json, "decided_by", buffer_string(&text));
}

/* ---- hits ---- */

void location_write_counts(struct json *json, const struct hit_counts *counts)
{
	json_count(json, "hits", counts->hits);
	json_count(json, "false", counts->hits - counts->trues);
	json_count(json, "true", counts->trues);
	json_count(json, "maybe", counts->maybes);
}

static void write_counts(struct json *json, struct location *location)
{
	const struct hit_counts counts = location_count(location);

	json_open(json, "counts", '{');
	location_write_counts(json, &counts);
	json_count(json, "ignored", ignore_gate(location)->ignored);
	json_close(json, '}');
}

/* @tid: 0: those that are not told apart. */
static void write_thread(struct json *json, const struct location *location, pid_t tid,
			 const struct hit_counts *counts)
{
	json_open(json, NULL, '{');
	if (tid != 0)
		json_number(json, "thread", tid);
	else
		json_null(json, "thread");
	json_bool(json, "ended", tid != 0 && !inferior_thread(location->inferior, tid));
	location_write_counts(json, counts);
	json_close(json, '}');
}

static void write_threads(struct json *json, const struct location *location)
{
	struct counts counts = location_counts(location);

	json_open(json, "threads", '[');
	for (size_t i = 0; i < counts.count; i++)
		write_thread(json, location, counts.threads[i].tid,
			     &counts.threads[i].counts);
	if (counts.others.hits > 0)
		write_thread(json, location, 0, &counts.others);
	json_close(json, ']');
	counts_clear(&counts);
}

/* ---- all ---- */

static void write_expressions(struct json *json, const char *name,
			      const struct agent_list *list,
			      const struct arch_ops *arch)
{
	json_open(json, name, '[');
	for (size_t i = 0; i < list->count; i++) {
		_cleanup_buffer_ struct buffer text = {0};

		agent_expr_print(list->exprs[i], arch, &text);
		json_text(json, NULL, buffer_string(&text));
	}
	json_close(json, ']');
}

static void write_notes(struct json *json, struct location *location)
{
	json_open(json, "notes", '[');
	for (int i = 0; i < NOTE_KINDS; i++) {
		_cleanup_buffer_ struct buffer text = {0};

		note_append((enum note_kind)i, location, &text);
		if (text.len > 0)
			json_text(json, NULL, buffer_string(&text));
	}
	json_close(json, ']');
}

void location_write(struct json *json, struct location *location,
		    struct symbols *symbols)
{
	const struct arch_ops *arch = location->inferior->arch;

	location_write_name(json, location, symbols);
	location_write_engine(json, location);
	write_counts(json, location);
	write_threads(json, location);
	write_expressions(json, "conditions", &location->conditions, arch);
	write_expressions(json, "commands", &location->commands.list, arch);
	write_notes(json, location);
}

/* With the symbols of its process, of which several follow one another. */
static void write_element(struct json *json, struct location *location,
			  struct symbols **symbols, const struct inferior **of)
{
	if (*of != location->inferior) {
		symbols_destroy(*symbols);
		*symbols = symbols_create(location->inferior);
		*of = location->inferior;
	}
	json_open(json, NULL, '{');
	location_write(json, location, *symbols);
	json_close(json, '}');
}

void breakpoints_print_json(struct inferiors *inferiors, bool all, struct buffer *out)
{
	struct json json = {out, true};
	const struct inferior *of = NULL;
	struct symbols *symbols = NULL;
	struct breakpoint_list list;
	struct location *location;

	breakpoint_list_init(&list, inferiors, all);
	json_open(&json, NULL, '{');
	json_open(&json, "breakpoints", '[');
	FOREACH_SHOWN(location, &list)
	write_element(&json, location, &symbols, &of);
	symbols_destroy(symbols);
	json_close(&json, ']');
	json_close(&json, '}');
	buffer_append_char(out, '\n');
}
