/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/emit/emit_constants.h"

#include <stddef.h>

void constants_emit_begin(struct compiler *c)
{
	if (c->constants_apart)
		bpf_emit(&c->emitter,
			 bpf_store(BPF_DW, BPF_REG_FP, FRAME_LOCATION, REG_LOCATION));
}

bool constants_emit_load(struct compiler *c, struct ir_operand operand, uint8_t reg)
{
	const size_t at = c->nconstants * sizeof(uint64_t);

	if (!c->constants_apart || operand.kind != IR_CONST ||
	    c->nconstants == BPF_CONSTANTS_MAX)
		return false;
	c->constants[c->nconstants++] = operand.value;
	bpf_emit(&c->emitter, bpf_load(BPF_DW, reg, BPF_REG_FP, FRAME_LOCATION));
	bpf_emit(&c->emitter,
		 bpf_load(BPF_DW, reg, reg,
			  (int16_t)(offsetof(struct bpf_location, constants) + at)));
	return true;
}
