/* SPDX-License-Identifier: BSD-2-Clause */
/* Hits that are to be ignored (gate.h). */
#ifndef TRUEHIT_BPF_EMIT_GATE_H
#define TRUEHIT_BPF_EMIT_GATE_H

#include "bpf/compiler.h"

/** Jumps to @ignored if this true hit is one of those. */
void gate_emit(struct compiler *c, uint32_t ignored);

#endif
