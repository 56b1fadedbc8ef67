/* SPDX-License-Identifier: BSD-2-Clause */
/* The watched bytes, and what is kept of them in the location. */
#ifndef TRUEHIT_BPF_COMPILER_EMIT_WATCHED_H
#define TRUEHIT_BPF_COMPILER_EMIT_WATCHED_H

#include <stdint.h>

#include "bpf/emit/compiler.h"

/** r0 = 0, or an error: the bytes that are watched, into the frame. */
void watched_emit_read(struct compiler *c, int16_t frame);
/** REG_LAST = what is kept of the location; takes its lock, or goes to the maybe exit.
 */
void watched_emit_lock(struct compiler *c);
void watched_emit_unlock(struct compiler *c);

/** Do hits come before the access? Then nothing is exchanged: the stub keeps what the
 * client has seen, and programs compare with that. */
bool watch_is_ahead(const struct compiler *c);

#endif
