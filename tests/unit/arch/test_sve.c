/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "arch/aarch64/sve.h"

/* By hand, from the kernel's arch/arm64/include/uapi/asm/ptrace.h, for vectors of 32
 * bytes: the header, Z registers, P registers, FFR, then FPSR at the next multiple of
 * 16. */
enum {
	VL = 32,
	Z = 16,
	P = Z + 32 * VL,
	FFR = P + 16 * VL / 8,
	FPSR = 1120,
	WHOLE = 1136,
	SMALL = 16 + 528,
	MAX = 16384,
};

static unsigned char state[MAX];
static size_t size;

static void begin(size_t bytes, unsigned char flags)
{
	memset(state, 0, sizeof(state));
	state[0] = bytes & 0xff;
	state[1] = (unsigned char)(bytes >> 8);
	state[8] = VL;
	state[12] = flags;
	size = bytes;
}

static void expect(enum sve_part part, unsigned int number, const void *wanted,
		   size_t len)
{
	unsigned char value[256];

	cr_assert_eq(sve_read(state, size, part, number, value, len), 0);
	cr_assert_arr_eq(value, wanted, len, "part %d, register %u", part, number);
}

Test(sve, whole_state)
{
	static const unsigned char fpcr[4] = {1, 2, 3, 4};
	unsigned char z[VL], p[VL / 8], vg[8] = {VL / 8};

	begin(WHOLE, 1);
	memset(z, 0x5a, sizeof(z));
	memset(p, 0x77, sizeof(p));
	memcpy(state + Z + 31 * VL, z, sizeof(z));
	memcpy(state + P + 15 * VL / 8, p, sizeof(p));
	memcpy(state + FPSR + 4, fpcr, sizeof(fpcr));
	expect(SVE_Z, 31, z, sizeof(z));
	expect(SVE_P, 15, p, sizeof(p));
	expect(SVE_FPCR, 0, fpcr, sizeof(fpcr));
	expect(SVE_VG, 0, vg, sizeof(vg));
	memset(p, 0x33, sizeof(p));
	cr_assert_eq(sve_write(state, &size, MAX, SVE_FFR, 0, p, sizeof(p)), 0);
	cr_assert_arr_eq(state + FFR, p, sizeof(p));
	cr_assert_eq(size, WHOLE);
}

/* Of a thread that uses 128 bits only. */
Test(sve, small_state_is_the_lower_part)
{
	unsigned char z[VL] = {1, 2, 3}, zero[VL / 8] = {0};

	begin(SMALL, 0);
	memcpy(state + 16 + 2 * 16, z, 16);
	expect(SVE_Z, 2, z, sizeof(z));
	expect(SVE_P, 3, zero, sizeof(zero));
	z[0] = 9;
	cr_assert_eq(sve_write(state, &size, MAX, SVE_Z, 2, z, sizeof(z)), 0);
	cr_assert_eq(size, SMALL, "it stays small");
	cr_assert_eq(state[16 + 2 * 16], 9);
}

Test(sve, small_state_grows)
{
	static const unsigned char fpsr[4] = {0, 0, 0, 8};
	unsigned char z[VL] = {1}, other[VL] = {5};

	begin(SMALL, 0);
	memcpy(state + 16 + 3 * 16, other, 16);
	memcpy(state + 16 + 512, fpsr, sizeof(fpsr));
	z[VL - 1] = 7;
	cr_assert_eq(sve_write(state, &size, MAX, SVE_Z, 1, z, sizeof(z)), 0);
	cr_assert_eq(size, WHOLE);
	cr_assert_eq(state[12] & 1, 1);
	cr_assert_eq(state[0] | state[1] << 8, WHOLE);
	expect(SVE_Z, 1, z, sizeof(z));
	expect(SVE_Z, 3, other, sizeof(other));
	expect(SVE_FPSR, 0, fpsr, sizeof(fpsr));
}

/* A thread may have taken another length than our table has. */
Test(sve, other_length)
{
	unsigned char longer[2 * VL], shorter[VL / 2];

	begin(WHOLE, 1);
	memset(state + Z, 0xff, VL);
	memset(longer, 0xff, VL);
	memset(longer + VL, 0, VL);
	memset(shorter, 0xff, sizeof(shorter));
	expect(SVE_Z, 0, longer, sizeof(longer));
	expect(SVE_Z, 0, shorter, sizeof(shorter));
}

Test(sve, refusals)
{
	const unsigned char vg[8] = {2};
	unsigned char z[VL] = {0};

	begin(16, 1);
	cr_assert_eq(sve_read(state, size, SVE_Z, 0, z, sizeof(z)), -ENODATA,
		     "streaming mode");
	begin(WHOLE, 1);
	cr_assert_eq(sve_write(state, &size, MAX, SVE_VG, 0, vg, sizeof(vg)),
		     -EOPNOTSUPP);
	begin(SMALL, 0);
	z[VL - 1] = 1;
	cr_assert_eq(sve_write(state, &size, SMALL, SVE_Z, 0, z, sizeof(z)), -ENOSPC);
}

/* Older kernels leave registers behind the header, and a size of 8. */
Test(sve, state_that_is_elsewhere)
{
	unsigned char value[16] = {1};

	begin(WHOLE, 1);
	cr_expect_not(sve_is_empty(state, size));
	begin(SMALL, 0);
	cr_expect_not(sve_is_empty(state, size));
	for (unsigned char told = 8; told <= 16; told += 8) {
		begin(SMALL, 0);
		state[0] = told;
		state[1] = 0;
		cr_expect(sve_is_empty(state, size));
		cr_expect_eq(sve_read(state, size, SVE_Z, 0, value, 16), -ENODATA);
		cr_expect_eq(sve_write(state, &size, MAX, SVE_Z, 0, value, 16),
			     -ENODATA);
	}
	cr_expect(sve_is_empty(state, 0));
}
