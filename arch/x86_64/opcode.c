/* SPDX-License-Identifier: BSD-2-Clause */
#include "arch/x86_64/opcode.h"

#include "arch/capstone.h"

enum {
	REX_W = 0x08,
	LOCK = 0xf0,
	REPNE = 0xf2,
	REP = 0xf3,
	OPERAND_SIZE = 0x66,
	ADDRESS_SIZE = 0x67,
	FS = 0x64,
	GS = 0x65,
};

static bool take_prefix(uint8_t byte, struct x86_64_opcode *opcode)
{
	switch (byte) {
	case LOCK:
		return opcode->lock = true;
	case REPNE:
		return opcode->repne = true;
	case REP:
		return opcode->rep = true;
	case OPERAND_SIZE:
		return opcode->operand_size = true;
	case ADDRESS_SIZE:
		return opcode->address_size = true;
	case FS:
	case GS:
		return opcode->segment = true;
	case 0x26: /* es, cs, ss, ds: of no effect */
	case 0x2e:
	case 0x36:
	case 0x3e:
		return true;
	default:
		return false;
	}
}

static bool is_rex(uint8_t byte)
{
	return (byte & 0xf0) == 0x40;
}

struct x86_64_opcode x86_64_opcode_at(const uint8_t *code, unsigned int len)
{
	struct x86_64_opcode found = {0}, more = {0};
	const uint8_t *p = code, *last = p + len - 1;

	while (p < last && take_prefix(*p, &found))
		p++;
	if (p < last && is_rex(*p))
		found.wide = *p++ & REX_W;
	found.odd = is_rex(*p) || take_prefix(*p, &more) || (found.rep && found.repne);
	found.first = *p;
	found.at = (unsigned int)(p - code);
	return found;
}

struct x86_64_opcode x86_64_opcode(const struct cs_insn *insn)
{
	return x86_64_opcode_at(insn->bytes, insn->size);
}
