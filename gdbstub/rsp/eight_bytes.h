/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Eight bytes of a packet at once, in a word: most of what memory and files consist of
 * goes into packets as it is. The order of the bytes in the word does not matter here.
 */
#ifndef TRUEHIT_RSP_EIGHT_BYTES_H
#define TRUEHIT_RSP_EIGHT_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { EIGHT_BYTES = sizeof(uint64_t) };

static inline uint64_t eight_load(const char *p)
{
	uint64_t bytes;

	memcpy(&bytes, p, sizeof(bytes));
	return bytes;
}

/** The same byte eight times. */
static inline uint64_t eight_times(uint64_t byte)
{
	return byte * UINT64_C(0x0101010101010101);
}

/** The top bit of the first byte that is zero is set, and none if there is no such byte
 * (bits of later bytes may be set, too). */
static inline uint64_t eight_find_zero(uint64_t bytes)
{
	return (bytes - eight_times(1)) & ~bytes & eight_times(0x80);
}

/** Does any have a meaning of its own in a frame: '#', '$', '*' or '}'? */
static inline bool eight_any_special(uint64_t bytes)
{
	return eight_find_zero(bytes ^ eight_times('#')) |
	       eight_find_zero(bytes ^ eight_times('$')) |
	       eight_find_zero(bytes ^ eight_times('*')) |
	       eight_find_zero(bytes ^ eight_times('}'));
}

/** The sum of the bytes, modulo 256. */
static inline uint8_t eight_sum(uint64_t bytes)
{
	const uint64_t pairs = UINT64_C(0x00ff00ff00ff00ff);

	return (uint8_t)((((bytes & pairs) + (bytes >> 8 & pairs)) *
			  UINT64_C(0x0001000100010001)) >>
			 48);
}

#endif
