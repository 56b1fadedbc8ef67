/* SPDX-License-Identifier: BSD-2-Clause */
/* Instructions as numbers (Arm ARM, C4.1 "A64 instruction set encoding"). */
#ifndef TRUEHIT_ARCH_AARCH64_INSN_H
#define TRUEHIT_ARCH_AARCH64_INSN_H

#include <stdint.h>

enum {
	INSN_LEN = 4,
	INSN_B_REACH = 1 << 27, /* bytes from a branch, back, and one less before */
};

#define INSN_B	    UINT32_C(0x14000000)
#define INSN_B_MASK UINT32_C(0xfc000000)
#define INSN_BL	    UINT32_C(0x94000000)

/** @len bits from bit @at on. */
static inline int64_t insn_field_signed(uint32_t insn, unsigned int at,
					unsigned int len)
{
	return (int64_t)((uint64_t)insn << (64 - at - len)) >> (64 - len);
}

/** A branch (b, bl) over so many bytes, a multiple of 4. */
static inline uint32_t insn_branch(uint32_t insn, int64_t distance)
{
	return insn | ((uint32_t)(distance / INSN_LEN) & ~INSN_B_MASK);
}

/** Whatever has a distance of 19 bits from bit 5 on (b.cond, cbz, ldr of a literal),
 * with this one, bytes. */
static inline uint32_t insn_with_distance19(uint32_t insn, int64_t distance)
{
	const uint32_t mask = UINT32_C(0x7ffff) << 5;

	return (insn & ~mask) | ((uint32_t)(distance / INSN_LEN) << 5 & mask);
}

/** ... of 14 bits (tbz). */
static inline uint32_t insn_with_distance14(uint32_t insn, int64_t distance)
{
	const uint32_t mask = UINT32_C(0x3fff) << 5;

	return (insn & ~mask) | ((uint32_t)(distance / INSN_LEN) << 5 & mask);
}

#endif
