/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/agent/arith.h"

#include <errno.h>

static uint64_t div_signed(uint64_t a, uint64_t b)
{
	/* Negation by hand: the smallest number / -1 traps on some processors. */
	return b == UINT64_MAX ? -a : (uint64_t)((int64_t)a / (int64_t)b);
}

static uint64_t rem_signed(uint64_t a, uint64_t b)
{
	return b == UINT64_MAX ? 0 : (uint64_t)((int64_t)a % (int64_t)b);
}

static uint64_t divide(uint8_t code, uint64_t a, uint64_t b)
{
	switch (code) {
	case AGENT_DIV_SIGNED:
		return div_signed(a, b);
	case AGENT_DIV_UNSIGNED:
		return a / b;
	case AGENT_REM_SIGNED:
		return rem_signed(a, b);
	default:
		return a % b;
	}
}

int agent_arith(uint8_t code, uint64_t a, uint64_t b, uint64_t *result)
{
	switch (code) {
	case AGENT_ADD:
		*result = a + b;
		return 0;
	case AGENT_SUB:
		*result = a - b;
		return 0;
	case AGENT_MUL:
		*result = a * b;
		return 0;
	case AGENT_LSH:
		*result = a << (b & 63);
		return 0;
	case AGENT_RSH_SIGNED:
		*result = (uint64_t)((int64_t)a >> (b & 63));
		return 0;
	case AGENT_RSH_UNSIGNED:
		*result = a >> (b & 63);
		return 0;
	case AGENT_BIT_AND:
		*result = a & b;
		return 0;
	case AGENT_BIT_OR:
		*result = a | b;
		return 0;
	case AGENT_BIT_XOR:
		*result = a ^ b;
		return 0;
	case AGENT_EQUAL:
		*result = a == b;
		return 0;
	case AGENT_LESS_SIGNED:
		*result = (int64_t)a < (int64_t)b;
		return 0;
	case AGENT_LESS_UNSIGNED:
		*result = a < b;
		return 0;
	default:
		if (b == 0)
			return -EDOM;
		*result = divide(code, a, b);
		return 0;
	}
}

uint64_t agent_extend(uint8_t code, uint64_t value, uint64_t bits)
{
	unsigned int shift;

	if (bits >= 64)
		return value;
	if (bits == 0)
		return 0;
	shift = 64 - (unsigned int)bits;
	value <<= shift;
	if (code == AGENT_EXT)
		return (uint64_t)((int64_t)value >> shift);
	return value >> shift;
}
