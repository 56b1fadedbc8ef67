/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/text/insn_start.h"

#include <stdlib.h>

#include "gdbstub/base/cleanup.h"
#include "gdbstub/symbols/symbols.h"
#include "gdbstub/text/text.h"

enum { CODE_MAX = 1 << 20 }; /* bytes to decode */

static bool find_code(struct inferior *inferior, uint64_t addr, uint64_t *start,
		      uint64_t *end)
{
	struct symbols *symbols = symbols_create(inferior);
	const bool found = symbols_code_around(symbols, addr, start, end);

	symbols_destroy(symbols);
	return found && addr - *start <= CODE_MAX;
}

bool insn_starts_at(struct inferior *inferior, struct decoder *decoder, uint64_t addr,
		    unsigned int len)
{
	uint64_t start, end;
	_cleanup_free_ uint8_t *code = NULL;

	if (!find_code(inferior, addr, &start, &end) || end - addr < len)
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
