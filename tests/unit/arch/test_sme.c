/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "arch/aarch64/sme.h"

/* By hand, from the kernel's arch/arm64/include/uapi/asm/ptrace.h, for streaming
 * vectors of 32 bytes: a header of 16 bytes, and 32 rows. */
enum { SIDE = 32, ALL = SIDE * SIDE, HEADER = 16, ON = HEADER + ALL, MAX = 16384 };

static unsigned char state[MAX];
static size_t size;

static void begin(size_t bytes)
{
	memset(state, 0xee, sizeof(state));
	memset(state, 0, HEADER);
	state[0] = bytes & 0xff;
	state[1] = (unsigned char)(bytes >> 8);
	state[8] = SIDE;
	size = bytes;
}

static uint64_t number(bool streaming, enum sme_part part)
{
	uint64_t value;

	cr_assert_eq(sme_read(state, size, streaming, part, SIDE, &value, 8), 0);
	return value;
}

Test(sme, what_is_on)
{
	begin(HEADER);
	cr_expect_eq(number(false, SME_SVG), 4);
	cr_expect_eq(number(false, SME_SVCR), 0);
	cr_expect_eq(number(true, SME_SVCR), 1);
	begin(ON);
	cr_expect_eq(number(false, SME_SVG), 4);
	cr_expect_eq(number(false, SME_SVCR), 2);
	cr_expect_eq(number(true, SME_SVCR), 3);
}

Test(sme, matrix)
{
	unsigned char value[ALL], wanted[ALL];

	begin(ON);
	for (int i = 0; i < ALL; i++)
		wanted[i] = (unsigned char)(i * 3);
	memcpy(state + HEADER, wanted, sizeof(wanted));
	cr_assert_eq(sme_read(state, size, false, SME_ZA, SIDE, value, ALL), 0);
	cr_expect_arr_eq(value, wanted, ALL);
	wanted[ALL - 1] ^= 1;
	cr_assert_eq(sme_write(state, &size, MAX, false, SME_ZA, SIDE, wanted, ALL), 0);
	cr_expect_arr_eq(state + HEADER, wanted, ALL);
	cr_expect_eq(size, ON);
}

/* Zeros, which leave it off; anything else switches it on. */
Test(sme, matrix_that_is_off)
{
	unsigned char value[ALL], zero[ALL] = {0};

	begin(HEADER);
	memset(value, 1, sizeof(value));
	cr_assert_eq(sme_read(state, size, false, SME_ZA, SIDE, value, ALL), 0);
	cr_expect_arr_eq(value, zero, ALL);
	cr_assert_eq(sme_write(state, &size, MAX, false, SME_ZA, SIDE, zero, ALL), 0);
	cr_expect_eq(size, HEADER);
	value[SIDE + 1] = 7;
	cr_assert_eq(sme_write(state, &size, MAX, false, SME_ZA, SIDE, value, ALL), 0);
	cr_expect_eq(size, ON);
	cr_expect_eq(state[0] | state[1] << 8, ON);
	cr_expect_eq(number(false, SME_SVCR), 2);
	cr_expect_arr_eq(state + HEADER, value, ALL);
}

/* The description has the length that the server began with. */
Test(sme, matrix_of_another_length)
{
	enum { LESS = 16, MORE = 64 };
	unsigned char value[MORE * MORE];

	begin(ON);
	for (int i = 0; i < ALL; i++)
		state[HEADER + i] = (unsigned char)(i / SIDE * 7 + i % SIDE);
	cr_assert_eq(sme_read(state, size, false, SME_ZA, LESS, value, LESS * LESS), 0);
	cr_expect_eq(value[3 * LESS + 15], 3 * 7 + 15);
	value[3 * LESS + 15] = 99;
	cr_assert_eq(
		sme_write(state, &size, MAX, false, SME_ZA, LESS, value, LESS * LESS),
		0);
	cr_expect_eq(state[HEADER + 3 * SIDE + 15], 99);
	cr_expect_eq(state[HEADER + 3 * SIDE + 16], 3 * 7 + 16);
	cr_assert_eq(sme_read(state, size, false, SME_ZA, MORE, value, MORE * MORE), 0);
	cr_expect_eq(value[31 * MORE + 31], (unsigned char)(31 * 7 + 31));
	cr_expect_eq(value[31 * MORE + 32], 0);
	cr_expect_eq(value[32 * MORE], 0);
}

Test(sme, length_and_mode_are_the_threads)
{
	uint64_t value = 4;

	begin(HEADER);
	cr_expect_eq(sme_write(state, &size, MAX, true, SME_SVG, SIDE, &value, 8), 0);
	value = 8;
	cr_expect_eq(sme_write(state, &size, MAX, true, SME_SVG, SIDE, &value, 8),
		     -EOPNOTSUPP);
	value = 1;
	cr_expect_eq(sme_write(state, &size, MAX, true, SME_SVCR, SIDE, &value, 8), 0);
	value = 0;
	cr_expect_eq(sme_write(state, &size, MAX, true, SME_SVCR, SIDE, &value, 8),
		     -EOPNOTSUPP);
}

Test(sme, no_room)
{
	unsigned char value[ALL] = {1};
	uint64_t ignored;

	begin(HEADER);
	cr_expect_eq(sme_write(state, &size, ON - 1, false, SME_ZA, SIDE, value, ALL),
		     -ENOSPC);
	size = 0;
	cr_expect_eq(sme_read(state, size, false, SME_SVG, SIDE, &ignored, 8),
		     -ENODATA);
	cr_expect_eq(sme_write(state, &size, MAX, false, SME_ZA, SIDE, value, ALL),
		     -ENODATA);
}
