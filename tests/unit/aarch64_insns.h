/* SPDX-License-Identifier: BSD-2-Clause */
/* Instructions of aarch64, and what they store. */
#ifndef TRUEHIT_TESTS_AARCH64_INSNS_H
#define TRUEHIT_TESTS_AARCH64_INSNS_H

#include <stdint.h>

enum extend { NO_INDEX, PLAIN, UXTW, SXTW };

/* As GNU as encodes it: the numbers of registers; 31 is xzr, but sp as a base. */
struct store {
	uint32_t word;
	const char *text;
	unsigned int data, size;
	unsigned int second, seconds; /* .seconds: it has a second one */
	unsigned int base;
	int offset;
	enum extend extend;
	unsigned int index, shift;
};

static const struct store stores[] = {
	{0xf9000041, "str x1, [x2]", 1, 8, .base = 2},
	{0xb9000441, "str w1, [x2, #4]", 1, 4, .base = 2, .offset = 4},
	{0xf9000be1, "str x1, [sp, #16]", 1, 8, .base = 31, .offset = 16},
	{0x39001c43, "strb w3, [x2, #7]", 3, 1, .base = 2, .offset = 7},
	{0x79000c43, "strh w3, [x2, #6]", 3, 2, .base = 2, .offset = 6},
	{0xf900045f, "str xzr, [x2, #8]", 31, 8, .base = 2, .offset = 8},
	{0xf81fd041, "stur x1, [x2, #-3]", 1, 8, .base = 2, .offset = -3},
	{0x381ff041, "sturb w1, [x2, #-1]", 1, 1, .base = 2, .offset = -1},
	{0x78005041, "sturh w1, [x2, #5]", 1, 2, .base = 2, .offset = 5},
	{0xb80ff041, "stur w1, [x2, #255]", 1, 4, .base = 2, .offset = 255},
	{0xf81f8841, "sttr x1, [x2, #-8]", 1, 8, .base = 2, .offset = -8},
	{0x38001841, "sttrb w1, [x2, #1]", 1, 1, .base = 2, .offset = 1},
	{0xf81f0c41, "str x1, [x2, #-16]!", 1, 8, .base = 2, .offset = -16},
	{0x38003c41, "strb w1, [x2, #3]!", 1, 1, .base = 2, .offset = 3},
	{0xb8008441, "str w1, [x2], #8", 1, 4, .base = 2},
	{0xf80107ff, "str xzr, [sp], #16", 31, 8, .base = 31},
	{0x781fe441, "strh w1, [x2], #-2", 1, 2, .base = 2},
	{0xf8236841, "str x1, [x2, x3]", 1, 8, .base = 2, .extend = PLAIN, .index = 3},
	{0xf8237841, "str x1, [x2, x3, lsl #3]", 1, 8, .base = 2, .extend = PLAIN,
	 .index = 3, .shift = 3},
	{0xb8234841, "str w1, [x2, w3, uxtw]", 1, 4, .base = 2, .extend = UXTW,
	 .index = 3},
	{0xb8235841, "str w1, [x2, w3, uxtw #2]", 1, 4, .base = 2, .extend = UXTW,
	 .index = 3, .shift = 2},
	{0x7823d841, "strh w1, [x2, w3, sxtw #1]", 1, 2, .base = 2, .extend = SXTW,
	 .index = 3, .shift = 1},
	{0x3823c841, "strb w1, [x2, w3, sxtw]", 1, 1, .base = 2, .extend = SXTW,
	 .index = 3},
	{0x38236841, "strb w1, [x2, x3]", 1, 1, .base = 2, .extend = PLAIN, .index = 3},
	{0xf823f841, "str x1, [x2, x3, sxtx #3]", 1, 8, .base = 2, .extend = PLAIN,
	 .index = 3, .shift = 3},
	{0xf83f6841, "str x1, [x2, xzr]", 1, 8, .base = 2, .extend = PLAIN,
	 .index = 31},
	{0x29001041, "stp w1, w4, [x2]", 1, 4, 4, 1, .base = 2},
	{0x293f1041, "stp w1, w4, [x2, #-8]", 1, 4, 4, 1, .base = 2, .offset = -8},
	{0xa9011041, "stp x1, x4, [x2, #16]", 1, 8, 4, 1, .base = 2, .offset = 16},
	{0xa9be7bfd, "stp x29, x30, [sp, #-32]!", 29, 8, 30, 1, .base = 31,
	 .offset = -32},
	{0xa8811041, "stp x1, x4, [x2], #16", 1, 8, 4, 1, .base = 2},
	{0x28bf1041, "stp w1, w4, [x2], #-8", 1, 4, 4, 1, .base = 2},
	{0x29817c41, "stp w1, wzr, [x2, #8]!", 1, 4, 31, 1, .base = 2, .offset = 8},
	{0xa83f1041, "stnp x1, x4, [x2, #-16]", 1, 8, 4, 1, .base = 2, .offset = -16},
	{0x28009041, "stnp w1, w4, [x2, #4]", 1, 4, 4, 1, .base = 2, .offset = 4},
	{0xa9007c5f, "stp xzr, xzr, [x2]", 31, 8, 31, 1, .base = 2},
	{0xc89ffc41, "stlr x1, [x2]", 1, 8, .base = 2},
	{0x089ffc41, "stlrb w1, [x2]", 1, 1, .base = 2},
	{0x489ffc41, "stlrh w1, [x2]", 1, 2, .base = 2},
	{0x889f7c41, "stllr w1, [x2]", 1, 4, .base = 2},
	{0xd91fb041, "stlur x1, [x2, #-5]", 1, 8, .base = 2, .offset = -5},
	{0x19007041, "stlurb w1, [x2, #7]", 1, 1, .base = 2, .offset = 7},
	{0xf8218044, "swp x1, x4, [x2]", 1, 8, .base = 2},
	{0xb8e1805f, "swpal w1, wzr, [x2]", 1, 4, .base = 2},
	{0x38218044, "swpb w1, w4, [x2]", 1, 1, .base = 2},
};

static const struct {
	uint32_t word;
	const char *text;
} others[] = {
	{0x00000000, "udf"},
	{0xf9400041, "ldr x1, [x2]"},
	{0xb9800041, "ldrsw x1, [x2]"},
	{0x39c00041, "ldrsb w1, [x2]"},
	{0xa9401041, "ldp x1, x4, [x2]"},
	{0x69401041, "ldpsw x1, x4, [x2]"},
	{0xb8400041, "ldur w1, [x2]"},
	{0xc8dffc41, "ldar x1, [x2]"},
	{0x3d800041, "str q1, [x2]"},
	{0xfd000041, "str d1, [x2]"},
	{0x3d000041, "str b1, [x2]"},
	{0xbc000041, "stur s1, [x2]"},
	{0xfc236841, "str d1, [x2, x3]"},
	{0xad001041, "stp q1, q4, [x2]"},
	{0x2d001041, "stp s1, s4, [x2]"},
	{0x6c811041, "stp d1, d4, [x2], #16"},
	{0x4c007041, "st1 {v1.16b}, [x2]"},
	{0xc8047c41, "stxr w4, x1, [x2]"},
	{0x8804fc41, "stlxr w4, w1, [x2]"},
	{0xc8240c41, "stxp w4, x1, x3, [x2]"},
	{0xc85f7c41, "ldxr x1, [x2]"},
	{0xf8210044, "ldadd x1, x4, [x2]"},
	{0xf821305f, "stset x1, [x2]"},
	{0xc8a17c44, "cas x1, x4, [x2]"},
	{0x48207c44, "casp x0, x1, x4, x5, [x2]"},
	{0xd9400041, "ldapur x1, [x2]"},
	{0xf8bfc041, "ldapr x1, [x2]"},
	{0xf9800040, "prfm pldl1keep, [x2]"},
	{0xd9200842, "stg x2, [x2]"},
	{0x69001041, "stgp x1, x4, [x2]"},
	{0xd50b7422, "dc zva, x2"},
	{0xd503201f, "nop"},
	{0xd4200000, "brk #0"},
	{0xd4000001, "svc #0"},
	/* Unpredictable: the base, written back, is stored. */
	{0xf81f0c42, "str x2, [x2, #-16]!"},
	{0xf8008442, "str x2, [x2], #8"},
	{0xa8810841, "stp x1, x2, [x2], #16"},
	{0xa9811042, "stp x2, x4, [x2, #16]!"},
};

#endif
