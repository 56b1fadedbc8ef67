/* SPDX-License-Identifier: BSD-2-Clause */
/* Small ends that all parts of a program use. */
#ifndef TRUEHIT_BPF_EMIT_EMIT_EXITS_H
#define TRUEHIT_BPF_EMIT_EMIT_EXITS_H

#include "bpf/emit/compiler.h"

void exits_return(struct compiler *c, int32_t value);
/** A jump to the maybe exit, and what for. */
void exits_doubt(struct compiler *c, struct bpf_insn jump, enum bpf_doubt doubt);
/** A field of struct bpf_location += 1, by its offset. */
void exits_count(struct compiler *c, size_t field);
#endif
