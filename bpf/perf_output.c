/* SPDX-License-Identifier: BSD-2-Clause */
/* The hardware engine's output: what commands have printed in the kernel. */
#include "base/log.h"
#include "bpf/perf_event.h"

/* Records, as ring_drain hands them on. */
struct printing {
	const struct engine *engine;
	bool all;
};

static bool is_ready(const struct engine *engine)
{
	return engine->output->ready(engine->output->data);
}

static bool print_record(void *data, const void *bytes, size_t len)
{
	const struct printing *printing = data;
	const struct engine *engine = printing->engine;
	const struct bpf_output_record *record = bytes;
	const struct placement *placement =
		perf_event_find(engine->state, record->location);
	const struct capture *capture = NULL;
	const struct output *output = engine->output;

	if (placement) {
		capture = &placement->program->code.capture;
		if (placement->location->inferior->unattended)
			output = engine->own_output;
	}
	if (!capture || len != sizeof(*record) + capture->size ||
	    capture_render(capture, record->capture, output->print, output->data) < 0)
		log_warning("what a command has printed is lost");
	return printing->all || is_ready(engine);
}

int perf_event_output_fd(struct engine *engine)
{
	return ((struct perf_event *)engine->state)->kernel.output.fd;
}

size_t perf_event_print_output(struct engine *engine, bool all)
{
	struct perf_event *state = engine->state;
	struct printing printing = {engine, all};

	if (!all && !is_ready(engine))
		return 0;
	return ring_drain(&state->kernel.output, print_record, &printing);
}
