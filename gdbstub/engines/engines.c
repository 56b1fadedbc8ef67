/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/engines/engines.h"

#include "gdbstub/base/log.h"
#include "bpf/placement/placement.h"
#include "bpf/placement/placement_output.h"
#include "gdbstub/locations/handed_counts.h"
#include "gdbstub/text/kept_decoder.h"

static const struct engine_ops *const all_engines[NENGINES] = {
	[ENGINE_UPROBE] = &uprobe_engine,     [ENGINE_PERF_EVENT] = &perf_event_engine,
	[ENGINE_DEBUGREG] = &debugreg_engine, [ENGINE_INT3] = &int3_engine,
	[ENGINE_SHARED] = &shared_engine,
};

static const struct kernel_side kernel_side = {
	.output_fd = placements_output_fd,
	.print_output = placements_print_output,
	.set_shadow = placements_set_shadow,
};

void engines_init(struct engines *engines, const struct output *output,
		  const struct output *own_output)
{
	*engines = (struct engines){.output = output, .own_output = own_output};
	TAILQ_INIT(&engines->ended_counts);
	for (int i = 0; i < NENGINES; i++)
		engines->engine[i] = (struct engine){
			.ops = all_engines[i],
			.unusable = error_create(0, "it has not been tried yet"),
			.output = output,
			.own_output = own_output,
			.watch_kernel = true,
		};
}

static void probe(struct engine *engine)
{
	error_destroy(engine->unusable);
	engine->unusable = engine->ops->probe(engine);
	if (engine->unusable)
		log_debug(LOG_STOPS, "engine %s: %s", engine->ops->name,
			  error_text(engine->unusable));
}

void engines_probe(struct engines *engines)
{
	struct placements *placements = placements_create();

	engines->kernel_side = &kernel_side;
	engines->placements = placements;
	for (int i = 0; i < NENGINES; i++) {
		engines->engine[i].placements = placements;
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
	handed_counts_forget_ended(engines);
	variables_deinit(&engines->variables);
	free(engines->numbers.rows);
	decoder_destroy(engines->decoder);
	if (engines->placements)
		placements_destroy(engines->placements);
}

/* ---- what is missing ---- */

struct error *engines_lack_conditions(const struct engines *engines)
{
	const struct engine *hardware = &engines->engine[ENGINE_PERF_EVENT];

	if (!hardware->unusable)
		return NULL;
	if (engines->engine[ENGINE_UPROBE].unusable)
		return error_create(0,
				    "conditions are not evaluated in the kernel, so "
				    "that every hit stops the program for a moment: %s",
				    error_text(hardware->unusable));
	if (engines_no_slots(engines))
		return NULL; /* those that there are have their conditions there */
	return error_create(0,
			    "conditions of hardware breakpoints and watchpoints are "
			    "not evaluated in the kernel, so that every hit of theirs "
			    "stops the program for a moment: %s",
			    error_text(hardware->unusable));
}

struct error *engines_lack_slots(const struct engines *engines)
{
	const char *why = engines_no_slots(engines);

	return why ? error_create(0,
				  "hardware breakpoints and watchpoints are not "
				  "available: %s",
				  why)
		   : NULL;
}
