/* SPDX-License-Identifier: BSD-2-Clause */
#include "assembler.h"

void text_op(struct text *text, enum agent_code code, uint64_t operand)
{
	unsigned int size = agent_opcode(code)->operand;

	if (text->len + 1 + size > TEXT_MAX) {
		text->full = true;
		return;
	}
	text->bytes[text->len++] = (uint8_t)code;
	while (size-- > 0)
		text->bytes[text->len++] = (uint8_t)(operand >> 8 * size);
}

size_t text_jump(struct text *text, enum agent_code code)
{
	text_op(text, code, 0);
	return text->len - 2;
}

void text_land(struct text *text, size_t place)
{
	text->bytes[place] = (uint8_t)(text->len >> 8);
	text->bytes[place + 1] = (uint8_t)text->len;
}
