/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/text/decoder.h"

bool decoder_init(struct decoder *decoder, const struct arch_ops *arch)
{
	const struct capstone_library *capstone = &decoder->capstone;

	*decoder = (struct decoder){.arch = arch};
	if (!capstone_library_find(&decoder->capstone) ||
	    capstone->open((cs_arch)arch->capstone_arch, (cs_mode)arch->capstone_mode,
			   &decoder->handle) != CS_ERR_OK)
		return false;
	if (capstone->option(decoder->handle, CS_OPT_DETAIL, CS_OPT_ON) == CS_ERR_OK)
		decoder->insn = capstone->malloc(decoder->handle);
	if (!decoder->insn)
		decoder_deinit(decoder);
	return decoder->insn != NULL;
}

void decoder_deinit(struct decoder *decoder)
{
	if (decoder->insn)
		decoder->capstone.free(decoder->insn, 1);
	decoder->insn = NULL;
	if (decoder->handle)
		decoder->capstone.close(&decoder->handle);
}

bool decoder_run(struct decoder *decoder, const uint8_t *code, size_t len,
		 uint64_t addr)
{
	return decoder->capstone.disasm_iter(decoder->handle, &code, &len, &addr,
					     decoder->insn);
}

void decoder_find_written(const struct decoder *decoder, struct insn_written *ret)
{
	cs_regs read;
	uint8_t nread;

	_Static_assert(sizeof(ret->reg) == sizeof(cs_regs),
		       "as many as capstone tells");
	ret->known = decoder->capstone.regs_access(decoder->handle, decoder->insn, read,
						   &nread, ret->reg,
						   &ret->count) == CS_ERR_OK;
}

bool decoder_be_like_gdb(struct decoder *decoder, bool on)
{
	return decoder->capstone.option(decoder->handle, CS_OPT_SYNTAX,
					on ? CS_OPT_SYNTAX_ATT
					   : CS_OPT_SYNTAX_DEFAULT) == CS_ERR_OK;
}
