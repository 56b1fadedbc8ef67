/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts and descriptions, for people: operations of engines. */
#ifndef TRUEHIT_BPF_PLACEMENT_PLACEMENT_REPORT_H
#define TRUEHIT_BPF_PLACEMENT_PLACEMENT_REPORT_H

#include "bpf/placement/placement.h"

void placement_counts(struct engine *engine, const struct location *location,
		      struct counts *counts);
void placement_reset_counts(struct engine *engine, struct location *location);
void placement_describe(struct engine *engine, const struct location *location,
			struct buffer *out);
/** All hits that its programs have seen, those before the last reset as well. */
uint64_t placement_hits_seen(const struct placement *placement,
			     const struct placements *placements);

#endif
