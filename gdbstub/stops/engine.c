/* SPDX-License-Identifier: BSD-2-Clause */
#include "stops/engine.h"

#include "base/log.h"
#include "bpf/placement.h"
#include "bpf/placement_output.h"

static const struct engine_ops *const all_engines[NENGINES] = {
	[ENGINE_UPROBE] = &uprobe_engine,     [ENGINE_PERF_EVENT] = &perf_event_engine,
	[ENGINE_DEBUGREG] = &debugreg_engine, [ENGINE_INT3] = &int3_engine,
	[ENGINE_SHARED] = &shared_engine,
};

static void probe(struct engine *engine)
{
	engine->unusable = engine->ops->probe(engine);
	if (engine->unusable)
		log_debug(LOG_STOPS, "engine %s: %s", engine->ops->name,
			  error_text(engine->unusable));
}

void engines_init(struct engines *engines, const struct output *output,
		  const struct output *own_output)
{
	struct placements *placements = placements_create();

	*engines = (struct engines){
		.placements = placements, .output = output, .own_output = own_output};
	for (int i = 0; i < NENGINES; i++) {
		engines->engine[i] = (struct engine){.ops = all_engines[i],
						     .placements = placements,
						     .output = output,
						     .own_output = own_output,
						     .watch_kernel = true};
		probe(&engines->engine[i]);
	}
	if (!placements->unusable)
		variables_share(&engines->variables,
				&placements->kernel.shared->variables);
}

void engines_deinit(struct engines *engines)
{
	for (int i = 0; i < NENGINES; i++) {
		struct engine *engine = &engines->engine[i];

		if (!engine->unusable)
			engine->ops->deinit(engine);
		error_destroy(engine->unusable);
	}
	variables_deinit(&engines->variables);
	placements_destroy(engines->placements);
}

void engines_set_watch_kernel(struct engines *engines, bool on)
{
	for (int i = 0; i < NENGINES; i++)
		engines->engine[i].watch_kernel = on;
}

void engines_settle(struct engines *engines)
{
	for (int i = 0; i < NENGINES; i++) {
		struct engine *engine = &engines->engine[i];

		if (!engine->unusable && engine->ops->settle)
			engine->ops->settle(engine);
	}
}

void engines_give_back(struct engines *engines)
{
	for (int i = 0; i < NENGINES; i++) {
		struct engine *engine = &engines->engine[i];

		if (!engine->unusable && engine->ops->give_back)
			engine->ops->give_back(engine);
	}
}

int engines_output_fd(struct engines *engines)
{
	return placements_output_fd(engines->placements);
}

size_t engines_print_output(struct engines *engines, bool all)
{
	return placements_print_output(engines->placements, engines->output,
				       engines->own_output, all);
}

const char *engine_no_kernel_hits(const struct engine *engine)
{
	const char *why = engine->ops->no_kernel_hits
				  ? engine->ops->no_kernel_hits(engine)
				  : "this engine sees the program's own ones only";

	if (!why && !engine->watch_kernel)
		why = "switched off (monitor set watch-kernel on)";
	return why;
}

static void print_kernel_hits(const struct engine *engine, struct buffer *out)
{
	const char *why;

	if (engine->unusable || !engine->ops->no_kernel_hits)
		return;
	why = engine_no_kernel_hits(engine);
	buffer_printf(out, "%-10s  writes by system calls %s%s\n", "",
		      why ? "are no hits of watchpoints: " : "are hits of watchpoints",
		      why ? why : "");
}

static void print_found(const struct engine *engine, struct buffer *out)
{
	if (engine->unusable || !engine->ops->print_found)
		return;
	buffer_printf(out, "%-10s  ", "");
	engine->ops->print_found(engine, out);
	buffer_append_char(out, '\n');
}

void engines_print(const struct engines *engines, struct buffer *out)
{
	for (int i = 0; i < NENGINES; i++) {
		const struct engine *engine = &engines->engine[i];

		buffer_printf(out, "%-10s  %s\n%-10s  %s%s\n", engine->ops->name,
			      engine->ops->title, "",
			      engine->unusable ? "not usable: " : "usable",
			      engine->unusable ? error_text(engine->unusable) : "");
		print_found(engine, out);
		print_kernel_hits(engine, out);
	}
}
