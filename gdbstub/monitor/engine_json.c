/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/monitor/engine_json.h"

#include "gdbstub/base/json_writer.h"
#include "gdbstub/breakpoints/choice.h"
#include "gdbstub/breakpoints/slots.h"
#include "gdbstub/locations/hit_costs.h"

/* 0: not known. */
static void write_ns(struct json *json, const char *name, unsigned int ns)
{
	json_tenths(json, name, ns > 0 ? (double)ns : -1);
}

static void write_costs(struct json *json, const struct engine *engine)
{
	const struct hit_costs *costs = engine->unusable || !engine->ops->costs
						? NULL
						: engine->ops->costs(engine);

	json_open(json, "costs", '{');
	write_ns(json, "hardware_ns", costs ? costs->hardware_ns : 0);
	write_ns(json, "emulated_ns", costs ? costs->emulated_ns : 0);
	write_ns(json, "stepped_ns", costs ? costs->stepped_ns : 0);
	json_close(json, '}');
}

static void write_engine(struct json *json, const struct engine *engine)
{
	_cleanup_buffer_ struct buffer found = {0};

	if (!engine->unusable && engine->ops->print_found)
		engine->ops->print_found(engine, &found);
	json_open(json, NULL, '{');
	json_text(json, "name", engine->ops->name);
	json_text(json, "title", engine->ops->title);
	json_bool(json, "usable", !engine->unusable);
	json_error(json, "why_not", engine->unusable);
	json_text(json, "found", found.len > 0 ? buffer_string(&found) : NULL);
	json_bool(json, "watches_system_calls",
		  !engine->unusable && engine->ops->no_kernel_hits &&
			  !engine_no_kernel_hits(engine));
	if (engine->ops->costs)
		write_costs(json, engine);
	else
		json_null(json, "costs");
	json_close(json, '}');
}

static const char *kinds_of(const struct slot_pool *pool)
{
	if (pool->for_all)
		return "all";
	return pool->kind == HW_EXECUTE ? "breakpoints" : "watchpoints";
}

static void write_pool(struct json *json, const struct slot_pool *pool)
{
	const char *why_not = engines_no_slots(pool->breakpoints->engines);

	json_open(json, NULL, '{');
	json_number(json, "process", pool->breakpoints->inferior->pid);
	json_text(json, "kinds", kinds_of(pool));
	json_count(json, "count", pool->total);
	json_count(json, "used", pool->used);
	json_count(json, "others", pool->foreign);
	json_count(json, "free", pool->free);
	json_bool(json, "usable", !why_not);
	json_text(json, "why_not", why_not);
	json_close(json, '}');
}

static void write_slots(struct json *json, const struct breakpoints *breakpoints)
{
	struct slot_pool pool = slots_look(breakpoints, HW_EXECUTE);

	write_pool(json, &pool);
	if (pool.for_all)
		return;
	pool = slots_look(breakpoints, HW_WRITE);
	write_pool(json, &pool);
}

static void write_settings(struct json *json, const struct engines *engines)
{
	static const char *const pads[] = {
		[PADS_AUTO] = "auto", [PADS_OFF] = "off", [PADS_ALWAYS] = "always"};

	json_open(json, "settings", '{');
	json_text(json, "engine", choice_name(engines->choice));
	json_text(json, "pads", pads[engines->pads]);
	json_bool(json, "watch_filter", !engines->unfiltered);
	json_close(json, '}');
}

void engines_print_json(const struct engines *engines,
			const struct inferiors *inferiors, struct buffer *out)
{
	const struct inferior *inferior;
	struct json json = {out, true};

	json_open(&json, NULL, '{');
	json_open(&json, "engines", '[');
	for (int i = 0; i < NENGINES; i++)
		write_engine(&json, &engines->engine[i]);
	json_close(&json, ']');
	json_open(&json, "hardware_slots", '[');
	TAILQ_FOREACH (inferior, &inferiors->list, link)
		if (inferior->breakpoints)
			write_slots(&json, inferior->breakpoints);
	json_close(&json, ']');
	write_settings(&json, engines);
	json_close(&json, '}');
	buffer_append_char(out, '\n');
}
