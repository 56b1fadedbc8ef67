/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/monitor/explain_json.h"

#include "gdbstub/base/json_writer.h"
#include "gdbstub/breakpoints/watch.h"
#include "gdbstub/locations/ignore.h"
#include "bpf/shared/left_over.h"
#include "gdbstub/monitor/cost.h"
#include "gdbstub/monitor/location_json.h"
#include "gdbstub/monitor/why.h"
#include "gdbstub/pads/location_pad.h"
#include "gdbstub/symbols/symbols.h"

static void write_why(void *json, enum why_kind kind, const char *text)
{
	(void)kind;
	json_text(json, NULL, text);
}

static void write_cost(struct json *json, const struct location *location)
{
	struct cost cost;

	cost_find(location, &cost);
	json_open(json, "cost", '{');
	json_tenths(json, "trial_false_hit_ns",
		    cost.trial_ns > 0 ? (double)cost.trial_ns : -1);
	json_tenths(json, "measured_hit_ns_at_most",
		    cost.most_ns > 0 ? cost.most_ns : -1);
	json_text(json, "measured_by", cost.by_processors ? "processors" : "running");
	json_count(json, "hits", cost.since.counts.hits);
	json_count(json, "processors_ns", cost.since.used_ns);
	json_count(json, "running_ns", cost.since.ran_ns);
	json_close(json, '}');
}

static void write_ignored(struct json *json, struct location *location)
{
	const struct gate *gate = ignore_gate(location);
	const int64_t left = gate_left(gate);

	json_open(json, "ignores", '{');
	json_bool(json, "all", left == GATE_ENDLESS);
	if (left == GATE_ENDLESS || gate->single)
		json_null(json, "next");
	else
		json_number(json, "next", left);
	if (gate->single && left != GATE_ENDLESS)
		json_number(json, "all_but", left + 1);
	else
		json_null(json, "all_but");
	json_close(json, '}');
}

static void write_left_over(struct json *json, const struct location *location)
{
	static const char *const what[LEFT_KINDS] = {
		[LEFT_HITS] = "hits",
		[LEFT_COMMANDS] = "commands",
		[LEFT_ALL_COMMANDS] = "all commands",
		[LEFT_ALL_HITS] = "all hits",
	};
	_cleanup_left_over_ struct left_over left = {0};

	if (!location->engine->ops->left_over)
		left_over_add(&left, LEFT_ALL_HITS, NULL, "hits stop their threads");
	else
		location->engine->ops->left_over(location->engine, location, &left);
	json_open(json, "left_to_stub", '[');
	for (size_t i = 0; i < left.count; i++) {
		json_open(json, NULL, '{');
		json_text(json, "what", what[left.rows[i].kind]);
		json_text(json, "reason", left.rows[i].text);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void write_pad(struct json *json, const struct location *location)
{
	const struct location_pad *pad = location->engine->ops->pad
						 ? location->engine->ops->pad(location)
						 : NULL;
	const char *why_none =
		pad ? location_pad_why_none(pad) : "its traps are not in the text";

	json_open(json, "pad", '{');
	json_bool(json, "made", !why_none);
	json_text(json, "why_not", why_none);
	json_text(json, "why_no_filter",
		  why_none ? NULL : location_pad_why_no_filter(pad));
	json_close(json, '}');
}

static void write_service(struct json *json, struct location *location)
{
	json_open(json, "why", '[');
	why_each(location, write_why, json);
	json_close(json, ']');
	write_cost(json, location);
	write_left_over(json, location);
	write_pad(json, location);
}

void location_explain_json(struct location *location, struct buffer *out)
{
	struct symbols *symbols = symbols_create(location->inferior);
	struct json json = {out, true};

	json_open(&json, NULL, '{');
	location_write(&json, location, symbols);
	symbols_destroy(symbols);
	json_bool(&json, "value_filter", watch_compares(location));
	write_ignored(&json, location);
	if (location->state != LOCATION_OUT)
		write_service(&json, location);
	json_close(&json, '}');
	buffer_append_char(out, '\n');
}
