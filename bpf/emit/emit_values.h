/* SPDX-License-Identifier: BSD-2-Clause */
/* Operands between slots, the event's context and BPF's registers. */
#ifndef TRUEHIT_BPF_EMIT_EMIT_VALUES_H
#define TRUEHIT_BPF_EMIT_EMIT_VALUES_H

#include "bpf/emit/compiler.h"

/** Does the operand fit the immediate of a BPF instruction? */
bool values_is_imm(struct ir_operand operand);
void values_zero_extend(struct bpf_emitter *e, uint8_t reg, unsigned int bits);
void values_sign_extend(struct bpf_emitter *e, uint8_t reg, unsigned int bits);
/** reg = register @number of the thread, one that the context has; or to the maybe
 * exit if its value is not sure (struct bpf_rule). */
void values_load_register(struct compiler *c, uint64_t number, uint8_t reg);
/** reg = where the hit came, in the kernel if need be. */
void values_load_pc(struct compiler *c, uint8_t reg);
/** The same, as the context has it: of a thread in a pad, that in the pad. */
void values_load_context_pc(struct compiler *c, uint8_t reg);
/** Sends the thread there (bpf_site.redirects). */
void values_store_pc(struct compiler *c, uint8_t reg);
/** The BPF register that has the operand: @scratch, unless it is in one already. */
uint8_t values_load(struct compiler *c, struct ir_operand operand, uint8_t scratch);
void values_load_into(struct compiler *c, struct ir_operand operand, uint8_t reg);
void values_store_slot(struct compiler *c, unsigned int number, uint8_t reg);
/** Where to compute a result that goes to a slot while @other is still needed. */
uint8_t values_result_reg(unsigned int number, struct ir_operand other);

#endif
