/* SPDX-License-Identifier: BSD-2-Clause */
/* halves: stores by one instruction each to both halves of a number: both change, the
 * lower, none, both. */
#include <stdint.h>

static volatile union {
	uint64_t whole;
	uint32_t half[2];
} number;

int main(void)
{
	number.whole = UINT64_C(0x100000001);
	number.whole = UINT64_C(0x100000002);
	number.whole = UINT64_C(0x100000002);
	number.whole = UINT64_C(0x200000003);
	return (int)number.half[0]; /* DONE */
}
