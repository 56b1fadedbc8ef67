/* SPDX-License-Identifier: BSD-2-Clause */
/* Which instructions are branches (Intel SDM volume 2, appendix A, opcode maps). */
#include "arch/x86_64/x86_64.h"

#include "arch/x86_64/opcode.h"

/* Of those with opcode 0xff: near and far calls and jumps. */
static bool is_indirect(uint8_t modrm)
{
	const unsigned int kind = modrm >> 3 & 7;

	return kind >= 2 && kind <= 5;
}

/* After the prefixes. @next: the byte after the first. */
static enum branch_kind kind_of(uint8_t first, uint8_t next)
{
	if ((first & 0xf0) == 0x70 || (first & 0xfc) == 0xe0 ||
	    (first == 0x0f && (next & 0xf0) == 0x80))
		return BRANCH_CONDITIONAL;
	switch (first) {
	case 0xc2: /* ret */
	case 0xc3:
	case 0xca: /* ... far */
	case 0xcb:
	case 0xcf: /* iret */
	case 0xe8: /* call */
	case 0xe9: /* jmp */
	case 0xeb:
		return BRANCH_ALWAYS;
	case 0xff:
		return is_indirect(next) ? BRANCH_ALWAYS : BRANCH_NONE;
	default:
		return BRANCH_NONE;
	}
}

struct insn_branch x86_64_branch_at(const uint8_t *code, size_t len)
{
	const struct x86_64_opcode opcode = x86_64_opcode_at(code, (unsigned int)len);
	const uint8_t next = opcode.at + 1 < len ? code[opcode.at + 1] : 0;

	return (struct insn_branch){
		.kind = kind_of(opcode.first, next),
		/* The distance has 8 bits, or 32. */
		.len = opcode.at + (opcode.first == 0x0f ? 6 : 2),
	};
}
