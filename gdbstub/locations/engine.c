/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/locations/engine.h"

#include "gdbstub/base/log.h"

void engines_set_watch_kernel(struct engines *engines, bool on)
{
	for (int i = 0; i < NENGINES; i++)
		engines->engine[i].watch_kernel = on;
}

void engines_catch_up(struct engines *engines, struct thread *thread)
{
	for (int i = 0; i < NENGINES; i++) {
		struct engine *engine = &engines->engine[i];

		if (!engine->unusable && engine->ops->catch_up)
			engine->ops->catch_up(engine, thread);
	}
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

unsigned int engines_note_hot(struct engines *engines, bool *any)
{
	unsigned int cold = 0;

	for (int i = 0; i < NENGINES; i++) {
		struct engine *engine = &engines->engine[i];

		if (!engine->unusable && engine->ops->note_hot)
			cold += engine->ops->note_hot(engine, any);
	}
	return cold;
}

int engines_output_fd(struct engines *engines)
{
	return engines->kernel_side
		       ? engines->kernel_side->output_fd(engines->placements)
		       : -1;
}

size_t engines_print_output(struct engines *engines, bool all)
{
	if (!engines->kernel_side)
		return 0;
	return engines->kernel_side->print_output(engines->placements, engines->output,
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

/* The last one asks for the least, so that it knows best what is wrong with slots. */
const char *engines_no_slots(const struct engines *engines)
{
	const char *why = NULL;

	for (int i = 0; i < NENGINES; i++) {
		const struct engine *engine = &engines->engine[i];

		if (!engine->ops->by_slots || engine->ops->shares)
			continue;
		if (!engine->unusable)
			return NULL;
		why = error_text(engine->unusable);
	}
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
