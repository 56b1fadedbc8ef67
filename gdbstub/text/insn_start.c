/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/text/insn_start.h"

#include <stdlib.h>

#include "gdbstub/base/cleanup.h"
#include "gdbstub/symbols/symbols.h"
#include "gdbstub/text/text.h"

enum { CODE_MAX = 1 << 20 }; /* bytes to decode */

bool insn_starts_at(struct inferior *inferior, struct symbols *symbols,
		    struct decoder *decoder, uint64_t addr, unsigned int len)
{
	uint64_t start, end;
	_cleanup_free_ uint8_t *code = NULL;

	if (!symbols_code_around(symbols, addr, &start, &end) ||
	    addr - start > CODE_MAX || end - addr < len)
		return false;
	if (start == addr)
		return true;
	code = malloc(addr - start);
	if (!code || breakpoints_read_memory(inferior, start, code, addr - start) !=
			     (ssize_t)(addr - start))
		return false;
	for (uint64_t at = start; at < addr; at += decoder->insn->size)
		if (!decoder_run(decoder, code + (at - start), addr - at, at))
			return false;
	return true;
}
