/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/assembler.h"

#include <string.h>

const uint8_t binary_codes[BINARY_CODES] = {
	AGENT_ADD,	    AGENT_SUB,		AGENT_MUL,
	AGENT_DIV_SIGNED,   AGENT_DIV_UNSIGNED, AGENT_REM_SIGNED,
	AGENT_REM_UNSIGNED, AGENT_LSH,		AGENT_RSH_SIGNED,
	AGENT_RSH_UNSIGNED, AGENT_BIT_AND,	AGENT_BIT_OR,
	AGENT_BIT_XOR,	    AGENT_EQUAL,	AGENT_LESS_SIGNED,
	AGENT_LESS_UNSIGNED};

void text_append(struct text *text, const void *bytes, size_t len)
{
	if (len > TEXT_MAX - text->len) {
		text->full = true;
		return;
	}
	memcpy(text->bytes + text->len, bytes, len);
	text->len += len;
}

void text_op(struct text *text, enum agent_code code, uint64_t operand)
{
	unsigned int size = agent_opcode(code)->operand;
	uint8_t bytes[1 + sizeof(operand)] = {(uint8_t)code};

	for (unsigned int i = 1; i <= size; i++)
		bytes[i] = (uint8_t)(operand >> 8 * (size - i));
	text_append(text, bytes, 1 + size);
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

void text_printf(struct text *text, const char *format, unsigned int count)
{
	size_t len = strlen(format) + 1;

	text_put(text, CONST8(0), CONST8(0), AGENT_PRINTF, (uint8_t)count,
		 OPERAND16(len));
	text_append(text, format, len);
}
