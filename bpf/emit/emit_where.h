/* SPDX-License-Identifier: BSD-2-Clause */
/* Which location was hit. */
#ifndef TRUEHIT_BPF_EMIT_EMIT_WHERE_H
#define TRUEHIT_BPF_EMIT_EMIT_WHERE_H

#include "bpf/emit/compiler.h"

/** The index of the location that is hit, in @reg; where it is told, r0 to r5 are used
 * up. */
void where_emit_index(struct compiler *c, uint8_t reg);
/** Of a breakpoint event: first of all, a hit while it is suspended is dropped. */
void where_emit_suspended(struct compiler *c);
/** REG_LOCATION = its struct bpf_location; r0 to r5 are used up. */
void where_emit(struct compiler *c);

#endif
