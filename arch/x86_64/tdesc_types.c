/* SPDX-License-Identifier: BSD-2-Clause */
#include "arch/tdesc.h"
#include "arch/x86_64/x86_64.h"

/* The nameless bit always reads as 1. */
static const struct tdesc_field eflags[] = {
	{"CF", NULL, 0, 0},    {"", NULL, 1, 1},     {"PF", NULL, 2, 2},
	{"AF", NULL, 4, 4},    {"ZF", NULL, 6, 6},   {"SF", NULL, 7, 7},
	{"TF", NULL, 8, 8},    {"IF", NULL, 9, 9},   {"DF", NULL, 10, 10},
	{"OF", NULL, 11, 11},  {"NT", NULL, 14, 14}, {"RF", NULL, 16, 16},
	{"VM", NULL, 17, 17},  {"AC", NULL, 18, 18}, {"VIF", NULL, 19, 19},
	{"VIP", NULL, 20, 20}, {"ID", NULL, 21, 21}, {NULL, NULL, 0, 0},
};

static const struct tdesc_field mxcsr[] = {
	{"IE", NULL, 0, 0},   {"DE", NULL, 1, 1},   {"ZE", NULL, 2, 2},
	{"OE", NULL, 3, 3},   {"UE", NULL, 4, 4},   {"PE", NULL, 5, 5},
	{"DAZ", NULL, 6, 6},  {"IM", NULL, 7, 7},   {"DM", NULL, 8, 8},
	{"ZM", NULL, 9, 9},   {"OM", NULL, 10, 10}, {"UM", NULL, 11, 11},
	{"PM", NULL, 12, 12}, {"FZ", NULL, 15, 15}, {NULL, NULL, 0, 0},
};

static const struct tdesc_field vec128[] = {
	{"v8_bfloat16", "v8bf16", 0, 0}, {"v8_half", "v8h", 0, 0},
	{"v4_float", "v4f", 0, 0},	 {"v2_double", "v2d", 0, 0},
	{"v16_int8", "v16i8", 0, 0},	 {"v8_int16", "v8i16", 0, 0},
	{"v4_int32", "v4i32", 0, 0},	 {"v2_int64", "v2i64", 0, 0},
	{"uint128", "uint128", 0, 0},	 {NULL, NULL, 0, 0},
};

#define VEC128_TYPES(feature)                                                          \
	{feature, "v8bf16", TDESC_VECTOR, 8, "bfloat16", NULL},                        \
		{feature, "v8h", TDESC_VECTOR, 8, "ieee_half", NULL},                  \
		{feature, "v4f", TDESC_VECTOR, 4, "ieee_single", NULL},                \
		{feature, "v2d", TDESC_VECTOR, 2, "ieee_double", NULL},                \
		{feature, "v16i8", TDESC_VECTOR, 16, "int8", NULL},                    \
		{feature, "v8i16", TDESC_VECTOR, 8, "int16", NULL},                    \
		{feature, "v4i32", TDESC_VECTOR, 4, "int32", NULL},                    \
		{feature, "v2i64", TDESC_VECTOR, 2, "int64", NULL},                    \
	{                                                                              \
		feature, "vec128", TDESC_UNION, 0, NULL, vec128                        \
	}

static const struct tdesc_type types[] = {
	{X86_64_CORE, "i386_eflags", TDESC_FLAGS, 4, NULL, eflags},
	VEC128_TYPES(X86_64_SSE),
	{X86_64_SSE, "i386_mxcsr", TDESC_FLAGS, 4, NULL, mxcsr},
	VEC128_TYPES(X86_64_AVX512),
	{X86_64_AVX512, "v2ui128", TDESC_VECTOR, 2, "uint128", NULL},
	{NULL, NULL, 0, 0, NULL, NULL},
};

void x86_64_target_xml(struct buffer *out)
{
	unsigned int count;
	const struct reg_def *table = x86_64_registers(&count);

	tdesc_append(out, "i386:x86-64", types, table, count);
}
