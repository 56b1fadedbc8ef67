/* SPDX-License-Identifier: BSD-2-Clause */
/* The value filter of watchpoints (watch_last.h). */
#ifndef TRUEHIT_BPF_COMPILER_EMIT_WATCH_H
#define TRUEHIT_BPF_COMPILER_EMIT_WATCH_H

#include "bpf/emit/compiler.h"

/** No values are in the record. */
void watch_emit_clear(struct compiler *c);
/** Compares what is watched, and jumps to @unchanged if it is what it was. A change by
 * a system call is a maybe. Only REG_CONTEXT survives. */
void watch_emit(struct compiler *c, uint32_t unchanged);
/** Are the @size bytes at @addr among those that were compared? Then *frame is where
 * they are: a condition is about what the filter has seen, not about what another
 * thread has written since, which has a hit of its own. */
bool watch_has(const struct compiler *c, struct ir_operand addr, int32_t size,
	       int16_t *frame);

#endif
