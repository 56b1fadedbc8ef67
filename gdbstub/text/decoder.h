/* SPDX-License-Identifier: BSD-2-Clause */
/* Instructions, decoded with details by capstone. */
#ifndef TRUEHIT_TEXT_DECODER_H
#define TRUEHIT_TEXT_DECODER_H

#include "arch/arch.h"
#include "gdbstub/text/capstone_library.h"

struct decoder {
	const struct arch_ops *arch;
	struct capstone_library capstone;
	csh handle;
	cs_insn *insn; /* decoded last */
};

/** False: capstone cannot be loaded, or does not know the processor, or there is no
 * memory. */
bool decoder_init(struct decoder *decoder, const struct arch_ops *arch);
void decoder_deinit(struct decoder *decoder);

/** Decodes the instruction at @addr, which these bytes begin with. */
bool decoder_run(struct decoder *decoder, const uint8_t *code, size_t len,
		 uint64_t addr);
/** The registers that the instruction decoded last writes. */
void decoder_find_written(const struct decoder *decoder, struct insn_written *ret);
/** From now on, texts are as gdb shows them by default, without details, or, as at
 * first, as capstone does. */
bool decoder_be_like_gdb(struct decoder *decoder, bool on);

#endif
