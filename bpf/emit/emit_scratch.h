/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading memory into the frame. */
#ifndef TRUEHIT_BPF_EMIT_EMIT_SCRATCH_H
#define TRUEHIT_BPF_EMIT_EMIT_SCRATCH_H

#include "bpf/emit/compiler.h"

/** r0 = 0, or an error: helper(fp + FRAME_SCRATCH, size, r3) */
void scratch_emit_read(struct bpf_emitter *e, int32_t helper, int32_t size);

#endif
