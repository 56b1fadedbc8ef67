/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/text/decoder.h"

bool decoder_init(struct decoder *decoder, const struct arch_ops *arch)
{
	*decoder = (struct decoder){0};
	if (cs_open((cs_arch)arch->capstone_arch, (cs_mode)arch->capstone_mode,
		    &decoder->handle) != CS_ERR_OK)
		return false;
	if (cs_option(decoder->handle, CS_OPT_DETAIL, CS_OPT_ON) == CS_ERR_OK)
		decoder->insn = cs_malloc(decoder->handle);
	if (!decoder->insn)
		decoder_deinit(decoder);
	return decoder->insn != NULL;
}

void decoder_deinit(struct decoder *decoder)
{
	if (decoder->insn)
		cs_free(decoder->insn, 1);
	decoder->insn = NULL;
	if (decoder->handle)
		cs_close(&decoder->handle);
}

bool decoder_run(struct decoder *decoder, const uint8_t *code, size_t len,
		 uint64_t addr)
{
	return cs_disasm_iter(decoder->handle, &code, &len, &addr, decoder->insn);
}
