/* SPDX-License-Identifier: BSD-2-Clause */
/* Locks in shared memory. */
#ifndef TRUEHIT_BPF_EMIT_EMIT_LOCK_H
#define TRUEHIT_BPF_EMIT_EMIT_LOCK_H

#include "bpf/emit/compiler.h"

/** Takes the lock in the field of what @reg points to, or goes to the maybe exit. It
 * needs r0, r1 and r3, giving it back r1. */
void lock_emit_take(struct compiler *c, uint8_t reg, size_t field,
		    enum bpf_doubt doubt);
void lock_emit_release(struct compiler *c, uint8_t reg, size_t field);

#endif
