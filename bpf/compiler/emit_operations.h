/* SPDX-License-Identifier: BSD-2-Clause */
/* The operations of the IR. */
#ifndef TRUEHIT_BPF_COMPILER_EMIT_OPERATIONS_H
#define TRUEHIT_BPF_COMPILER_EMIT_OPERATIONS_H

#include "bpf/emit/compiler.h"

/** All operations of a condition or a command, and which exits they use. */
void operations_emit(struct compiler *c, const struct ir *ir);

#endif
