/* SPDX-License-Identifier: BSD-2-Clause */
/* What commands have printed in the kernel. */
#include "bpf/placement/placement_output.h"

#include "gdbstub/base/log.h"
#include "bpf/placement/placement.h"

/* Records, as ring_drain hands them on. */
struct printing {
	const struct placements *placements;
	const struct output *output, *own;
	bool all;
};

static bool is_ready(const struct output *output)
{
	return output->ready(output->data);
}

static bool print_record(void *data, const void *bytes, size_t len)
{
	const struct printing *printing = data;
	const struct bpf_output_record *record = bytes;
	const struct placement *placement =
		placements_find(printing->placements, record->location);
	const struct capture *capture = NULL;
	const struct output *output = printing->output;

	if (placement) {
		capture = &placement->program->code.capture;
		if (placement->location->inferior->unattended)
			output = printing->own;
	}
	if (!capture || len != sizeof(*record) + capture->size ||
	    capture_render(capture, record->capture, output->print, output->data) < 0)
		log_warning("what a command has printed is lost");
	return printing->all || is_ready(printing->output);
}

int placements_output_fd(const struct placements *placements)
{
	return placements->any_commands ? placements->kernel.output.fd : -1;
}

size_t placements_print_output(struct placements *placements,
			       const struct output *output, const struct output *own,
			       bool all)
{
	struct printing printing = {placements, output, own, all};

	if (placements->unusable || !placements->any_commands ||
	    (!all && !is_ready(output)))
		return 0;
	return ring_drain(&placements->kernel.output, print_record, &printing);
}
