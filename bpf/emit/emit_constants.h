/* SPDX-License-Identifier: BSD-2-Clause */
/* Constants that conditions compare with, apart from the code
 * (bpf_compile_options.constants_apart). */
#ifndef TRUEHIT_BPF_EMIT_EMIT_CONSTANTS_H
#define TRUEHIT_BPF_EMIT_EMIT_CONSTANTS_H

#include "bpf/emit/compiler.h"

/** Keeps where they are, while REG_LOCATION is still that. */
void constants_emit_begin(struct compiler *c);
/** reg = the operand, if that is such a constant; r0 to r5 but @reg stay as they are.
 */
bool constants_emit_load(struct compiler *c, struct ir_operand operand, uint8_t reg);

#endif
