/* SPDX-License-Identifier: BSD-2-Clause */
/* What the stub has planted in memory: no condition may read it. */
#ifndef TRUEHIT_BPF_EMIT_EMIT_SHADOW_H
#define TRUEHIT_BPF_EMIT_EMIT_SHADOW_H

#include "bpf/emit/compiler.h"

/** To the maybe exit if [r3, r3 + size) touches what the stub has planted. r3 stays. */
void shadow_emit_check(struct compiler *c, int32_t size);

#endif
