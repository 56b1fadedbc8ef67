/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs, and why they leave hits to the stub, for people: an operation of engines.
 */
#ifndef TRUEHIT_BPF_PLACEMENT_PLACEMENT_EXPLAIN_H
#define TRUEHIT_BPF_PLACEMENT_PLACEMENT_EXPLAIN_H

#include "bpf/placement/placement.h"

void placement_explain(struct engine *engine, const struct location *location,
		       struct buffer *out);

#endif
