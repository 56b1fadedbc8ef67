/* SPDX-License-Identifier: BSD-2-Clause */
/* Who hits. */
#ifndef TRUEHIT_BPF_COMPILER_EMIT_TID_H
#define TRUEHIT_BPF_COMPILER_EMIT_TID_H

#include "bpf/emit/compiler.h"

/** FRAME_TID = the thread's number in our PID name space; of another one: 0. r0 to r5
 * are used up, and the field of the record after it. */
void tid_emit(struct compiler *c);
/** IR_THREAD */
void tid_emit_use(struct compiler *c, const struct ir_insn *insn);

#endif
