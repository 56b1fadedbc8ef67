/* SPDX-License-Identifier: BSD-2-Clause */
/* What commands print and store. */
#ifndef TRUEHIT_BPF_COMPILER_EMIT_CAPTURE_H
#define TRUEHIT_BPF_COMPILER_EMIT_CAPTURE_H

#include "bpf/emit/compiler.h"

/**
 * Captures what the commands print, and jumps to @captured. Falls through if it
 * cannot: then no record is left. No register but REG_CONTEXT survives.
 */
void capture_emit(struct compiler *c, uint32_t captured);

#endif
