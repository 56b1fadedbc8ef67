/* SPDX-License-Identifier: BSD-2-Clause */
/* Counting a hit for its thread. */
#ifndef TRUEHIT_BPF_COMPILER_EMIT_TALLY_H
#define TRUEHIT_BPF_COMPILER_EMIT_TALLY_H

#include "bpf/emit/compiler.h"

/** Counts the hit for the thread FRAME_TID, by REG_VERDICT. */
void tally_emit(struct compiler *c);
/** The hit, which was counted by REG_VERDICT, is a maybe after all. */
void tally_emit_maybe(struct compiler *c);

#endif
