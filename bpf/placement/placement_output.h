/* SPDX-License-Identifier: BSD-2-Clause */
/* What commands have printed in the kernel. */
#ifndef TRUEHIT_BPF_PLACEMENT_PLACEMENT_OUTPUT_H
#define TRUEHIT_BPF_PLACEMENT_PLACEMENT_OUTPUT_H

#include <stdbool.h>

#include "bpf/placement/placement.h"

/** A descriptor that poll(2) can read while print_output has something to do. */
int placements_output_fd(const struct placements *placements);
/**
 * Prints what commands have printed without a stop until now; for as long as the
 * @output is ready, or @all; what unattended inferiors print goes to @own. Returns of
 * how many hits. A location that is removed leaves nothing to print.
 */
size_t placements_print_output(struct placements *placements,
			       const struct output *output, const struct output *own,
			       bool all);

#endif
