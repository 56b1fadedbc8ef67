/* SPDX-License-Identifier: BSD-2-Clause */
/* What a command prints goes into its record, by the layout of gdbstub/agent/capture.h.
 */
#ifndef TRUEHIT_BPF_EMIT_EMIT_PRINT_H
#define TRUEHIT_BPF_EMIT_EMIT_PRINT_H

#include "bpf/emit/compiler.h"

/** Where the record has what the layout puts at @offset. */
int16_t print_in_record(uint32_t offset);
/** The register gets the record's address. */
void print_load_record(struct bpf_emitter *e, uint8_t reg);
/** IR_PRINT and IR_STORE. */
void print_emit(struct compiler *c, const struct ir_insn *insn);
void print_emit_argument(struct compiler *c, const struct ir_insn *insn);

#endif
