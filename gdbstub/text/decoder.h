/* SPDX-License-Identifier: BSD-2-Clause */
/* Instructions, decoded with details by capstone. */
#ifndef TRUEHIT_TEXT_DECODER_H
#define TRUEHIT_TEXT_DECODER_H

#include <capstone/capstone.h>

#include "arch/arch.h"

struct decoder {
	csh handle;
	cs_insn *insn; /* decoded last */
};

/** False: capstone does not know the processor, or there is no memory. */
bool decoder_init(struct decoder *decoder, const struct arch_ops *arch);
void decoder_deinit(struct decoder *decoder);

/** Decodes the instruction at @addr, which these bytes begin with. */
bool decoder_run(struct decoder *decoder, const uint8_t *code, size_t len,
		 uint64_t addr);

#endif
