/* SPDX-License-Identifier: BSD-2-Clause */
/* One operation of the IR at a time. */
#ifndef TRUEHIT_BPF_EMIT_OPERATIONS_H
#define TRUEHIT_BPF_EMIT_OPERATIONS_H

#include "bpf/compiler.h"

void operations_emit(struct compiler *c, const struct ir_insn *insn);
/** To the maybe exit if [r3, r3 + size) touches what the stub has planted. r3 stays. */
void operations_check_shadow(struct compiler *c, int32_t size);

#endif
