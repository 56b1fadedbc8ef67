/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs, and why they leave hits to the stub, for people: operations of engines. */
#ifndef TRUEHIT_BPF_PLACEMENT_PLACEMENT_EXPLAIN_H
#define TRUEHIT_BPF_PLACEMENT_PLACEMENT_EXPLAIN_H

#include "bpf/placement/placement.h"

void placement_left_over(struct engine *engine, const struct location *location,
			 struct left_over *left);
void placement_print_program(struct engine *engine, const struct location *location,
			     struct buffer *out);

#endif
