/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Jumps in the place of instructions of any length (Chamith et al., LiteInst, PLDI
 * 2017; Duck et al., E9Patch, PLDI 2020): jmp rel32 (Intel SDM volume 2), whose last
 * bytes may be those of what follows the instruction. With prefixes before it, it ends
 * later.
 */
#include "arch/x86_64/x86_64.h"

#include <string.h>

enum {
	JMP = 0xe9,
	JMP_LEN = 5,
	DISPLACEMENT_LEN = 4,
	ES = 0x26, /* a segment override, which jumps ignore in 64-bit mode */
};

static const uint8_t nop[] = {0x90};

/* Of a displacement whose last bytes are given, and its others are not: the first so
 * many are its own. False: it leads below all addresses, as backwards from low ones. */
static bool find_range(uint64_t end, const uint8_t *bytes, unsigned int own,
		       struct jump_form *form)
{
	int64_t lowest = INT32_MIN, highest = INT32_MAX;
	uint32_t fixed = 0;

	if (own < DISPLACEMENT_LEN) {
		for (unsigned int i = own; i < DISPLACEMENT_LEN; i++)
			fixed |= (uint32_t)bytes[i] << (8 * i);
		lowest = (int32_t)fixed;
		highest = lowest + (INT64_C(1) << (8 * own)) - 1;
	}
	lowest += (int64_t)end;
	highest += (int64_t)end;
	form->lowest = lowest < 0 ? 0 : (uint64_t)lowest;
	form->highest = (uint64_t)highest;
	return highest >= 0;
}

static unsigned int x86_64_jump_forms(uint64_t addr, const uint8_t *text,
				      unsigned int len,
				      struct jump_form forms[JUMP_FORMS_MAX])
{
	unsigned int count = 0;

	for (unsigned int prefixes = 0; prefixes < len && count < JUMP_FORMS_MAX;
	     prefixes++) {
		struct jump_form form = {.prefixes = prefixes};

		if (find_range(addr + prefixes + JMP_LEN, text + prefixes + 1,
			       len - prefixes - 1, &form))
			forms[count++] = form;
	}
	return count;
}

static unsigned int encode(unsigned int prefixes, uint64_t from, uint64_t to,
			   uint8_t code[JUMP_LEN_MAX])
{
	const uint32_t displacement = (uint32_t)(to - (from + prefixes + JMP_LEN));

	memset(code, ES, prefixes);
	code[prefixes] = JMP;
	for (unsigned int i = 0; i < DISPLACEMENT_LEN; i++)
		code[prefixes + 1 + i] = (uint8_t)(displacement >> (8 * i));
	return prefixes + JMP_LEN;
}

static unsigned int x86_64_jump_encode(const struct jump_form *form, uint64_t addr,
				       uint64_t to, uint8_t code[JUMP_LEN_MAX])
{
	return encode(form->prefixes, addr, to, code);
}

static unsigned int x86_64_jump(uint64_t from, uint64_t to, uint8_t code[JUMP_LEN_MAX])
{
	return x86_64_reaches(from + JMP_LEN, to) ? encode(0, from, to, code) : 0;
}

static unsigned int x86_64_jump_target(const uint8_t *code, unsigned int len,
				       uint64_t from, uint64_t *to)
{
	unsigned int at = 0;
	int32_t displacement;

	while (at < len && code[at] == ES)
		at++;
	if (len - at < JMP_LEN || code[at] != JMP)
		return 0;
	memcpy(&displacement, code + at + 1, sizeof(displacement));
	*to = from + at + JMP_LEN + (uint64_t)(int64_t)displacement;
	return at + JMP_LEN;
}

bool x86_64_reaches(uint64_t end, uint64_t to)
{
	const int64_t distance = (int64_t)(to - end);

	return distance >= INT32_MIN && distance <= INT32_MAX;
}

const struct displaced_ops x86_64_displaced = {
	.nop = nop,
	.nop_len = sizeof(nop),
	.jump_len = JMP_LEN,
	.address_bits = 47,
	.reach = INT32_MAX,
	.copy = x86_64_copy,
	.jump = x86_64_jump,
	.jump_target = x86_64_jump_target,
	.jump_forms = x86_64_jump_forms,
	.jump_encode = x86_64_jump_encode,
};
