/* SPDX-License-Identifier: BSD-2-Clause */
/* What a filter of the library finds where it watches (bpf/shared/match_value.h). */
#ifndef TRUEHIT_BPF_COMPILER_EMIT_MATCH_VALUE_H
#define TRUEHIT_BPF_COMPILER_EMIT_MATCH_VALUE_H

#include "bpf/emit/compiler.h"

/** Exchanges it; @match, which helpers leave alone, has the struct bpf_match. */
void match_value_emit(struct compiler *c, uint8_t match);
/** A hit that has found the same again goes to the label, if changes are wanted. */
void match_value_emit_changes(struct compiler *c, uint8_t match, uint32_t mismatch);

#endif
