/* SPDX-License-Identifier: BSD-2-Clause */
/* The value filter where hits come before the access. */
#ifndef TRUEHIT_BPF_COMPILER_EMIT_WATCH_AHEAD_H
#define TRUEHIT_BPF_COMPILER_EMIT_WATCH_AHEAD_H

#include "bpf/emit/compiler.h"

/** watch_emit() where it is so: compares what the access is about to make of what is
 * watched. If the stub decides, it only puts that where watch_has() finds it. */
void watch_ahead_emit(struct compiler *c, uint32_t unchanged);
/** Of a false hit: keeps what the access is about to make of what is watched. */
void watch_ahead_keep(struct compiler *c);
/** The program notes which registers its conditions read. */
void watch_ahead_note_reads(struct compiler *c, const struct agent_list *conditions);
/** To the maybe exit if [r3, r3 + size), which is not what watch_has() knows, may be
 * about to change. r3 stays. */
void watch_ahead_check_read(struct compiler *c, int32_t size);

#endif
