/* SPDX-License-Identifier: BSD-2-Clause */
/* What a filter of the library wants of a hit (bpf/shared/match.h). */
#ifndef TRUEHIT_BPF_COMPILER_EMIT_MATCH_H
#define TRUEHIT_BPF_COMPILER_EMIT_MATCH_H

#include "bpf/emit/compiler.h"

/** Before the conditions: a hit that does not match goes to the label; while the filter
 * is not armed, it ends at once. No slot is in use. */
void match_emit(struct compiler *c, uint32_t mismatch);
/** A true hit is told, or goes to the label, as so many were. */
void match_emit_disarm(struct compiler *c, uint32_t ignored);

#endif
