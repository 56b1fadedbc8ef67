/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Jumps in the place of instructions (Arm ARM, C6.2 "B"): as long as these, so that no
 * other byte is concerned.
 */
#include "arch/aarch64/aarch64.h"

#include <string.h>

#include "arch/aarch64/insn.h"

static const uint8_t nop[] = {0x1f, 0x20, 0x03, 0xd5};

static unsigned int aarch64_jump(uint64_t from, uint64_t to, uint8_t code[JUMP_LEN_MAX])
{
	const int64_t distance = (int64_t)(to - from);
	uint32_t insn;

	if (distance < -INSN_B_REACH || distance >= INSN_B_REACH)
		return 0;
	insn = insn_branch(INSN_B, distance);
	memcpy(code, &insn, sizeof(insn));
	return sizeof(insn);
}

static unsigned int aarch64_jump_target(const uint8_t *code, unsigned int len,
					uint64_t from, uint64_t *to)
{
	uint32_t insn;

	if (len < sizeof(insn))
		return 0;
	memcpy(&insn, code, sizeof(insn));
	if ((insn & INSN_B_MASK) != INSN_B)
		return 0;
	*to = from + (uint64_t)insn_field_signed(insn, 0, 26) * INSN_LEN;
	return sizeof(insn);
}

static unsigned int aarch64_jump_forms(uint64_t addr, const uint8_t *text,
				       unsigned int len,
				       struct jump_form forms[JUMP_FORMS_MAX])
{
	(void)text;
	(void)len;
	forms[0] = (struct jump_form){
		.lowest = addr > INSN_B_REACH ? addr - INSN_B_REACH : 0,
		.highest = addr + INSN_B_REACH - INSN_LEN,
	};
	return 1;
}

static unsigned int aarch64_jump_encode(const struct jump_form *form, uint64_t addr,
					uint64_t to, uint8_t code[JUMP_LEN_MAX])
{
	(void)form;
	return aarch64_jump(addr, to, code);
}

const struct displaced_ops aarch64_displaced = {
	.nop = nop,
	.nop_len = sizeof(nop),
	.jump_len = INSN_LEN,
	.address_bits = 48, /* unless it asks for more */
	.reach = INSN_B_REACH - INSN_LEN,
	.copy = aarch64_copy,
	.jump = aarch64_jump,
	.jump_target = aarch64_jump_target,
	.jump_forms = aarch64_jump_forms,
	.jump_encode = aarch64_jump_encode,
};
