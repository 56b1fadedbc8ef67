/* SPDX-License-Identifier: BSD-2-Clause */
/* Hits that are to be ignored (ignore_gate.h). */
#ifndef TRUEHIT_BPF_COMPILER_EMIT_GATE_H
#define TRUEHIT_BPF_COMPILER_EMIT_GATE_H

#include "bpf/emit/compiler.h"

/** Jumps to @ignored if this true hit is one of those. */
void gate_emit(struct compiler *c, uint32_t ignored);

#endif
