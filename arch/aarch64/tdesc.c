/* SPDX-License-Identifier: BSD-2-Clause */
#include "arch/tdesc.h"
#include "arch/aarch64/aarch64.h"

/* Arm ARM, "SPSR_EL1". */
static const struct tdesc_field cpsr[] = {
	{"SP", NULL, 0, 0},    {"EL", NULL, 2, 3},	{"nRW", NULL, 4, 4},
	{"F", NULL, 6, 6},     {"I", NULL, 7, 7},	{"A", NULL, 8, 8},
	{"D", NULL, 9, 9},     {"BTYPE", NULL, 10, 11}, {"SSBS", NULL, 12, 12},
	{"IL", NULL, 20, 20},  {"SS", NULL, 21, 21},	{"PAN", NULL, 22, 22},
	{"UAO", NULL, 23, 23}, {"DIT", NULL, 24, 24},	{"TCO", NULL, 25, 25},
	{"V", NULL, 28, 28},   {"C", NULL, 29, 29},	{"Z", NULL, 30, 30},
	{"N", NULL, 31, 31},   {NULL, NULL, 0, 0},
};

/* Arm ARM, "FPSR". */
static const struct tdesc_field fpsr[] = {
	{"IOC", NULL, 0, 0},  {"DZC", NULL, 1, 1}, {"OFC", NULL, 2, 2},
	{"UFC", NULL, 3, 3},  {"IXC", NULL, 4, 4}, {"IDC", NULL, 7, 7},
	{"QC", NULL, 27, 27}, {"V", NULL, 28, 28}, {"C", NULL, 29, 29},
	{"Z", NULL, 30, 30},  {"N", NULL, 31, 31}, {NULL, NULL, 0, 0},
};

/* Arm ARM, "FPCR". */
static const struct tdesc_field fpcr[] = {
	{"FIZ", NULL, 0, 0},	  {"AH", NULL, 1, 1},	   {"NEP", NULL, 2, 2},
	{"IOE", NULL, 8, 8},	  {"DZE", NULL, 9, 9},	   {"OFE", NULL, 10, 10},
	{"UFE", NULL, 11, 11},	  {"IXE", NULL, 12, 12},   {"EBF", NULL, 13, 13},
	{"IDE", NULL, 15, 15},	  {"Len", NULL, 16, 18},   {"FZ16", NULL, 19, 19},
	{"Stride", NULL, 20, 21}, {"RMode", NULL, 22, 23}, {"FZ", NULL, 24, 24},
	{"DN", NULL, 25, 25},	  {"AHP", NULL, 26, 26},   {NULL, NULL, 0, 0},
};

/* The v registers as vectors of d, s, h, b and q elements; of each, floating
 * point (f, bf), unsigned (u) and signed (s). */
static const struct tdesc_field vnd[] = {
	{"f", "v2d", 0, 0},
	{"u", "v2u", 0, 0},
	{"s", "v2i", 0, 0},
	{NULL, NULL, 0, 0},
};

static const struct tdesc_field vns[] = {
	{"f", "v4f", 0, 0},
	{"u", "v4u", 0, 0},
	{"s", "v4i", 0, 0},
	{NULL, NULL, 0, 0},
};

static const struct tdesc_field vnh[] = {
	{"bf", "v8bf16", 0, 0}, {"f", "v8f", 0, 0}, {"u", "v8u", 0, 0},
	{"s", "v8i", 0, 0},	{NULL, NULL, 0, 0},
};

static const struct tdesc_field vnb[] = {
	{"u", "v16u", 0, 0},
	{"s", "v16i", 0, 0},
	{NULL, NULL, 0, 0},
};

static const struct tdesc_field vnq[] = {
	{"u", "v1u", 0, 0},
	{"s", "v1i", 0, 0},
	{NULL, NULL, 0, 0},
};

static const struct tdesc_field aarch64v[] = {
	{"d", "vnd", 0, 0}, {"s", "vns", 0, 0}, {"h", "vnh", 0, 0},
	{"b", "vnb", 0, 0}, {"q", "vnq", 0, 0}, {NULL, NULL, 0, 0},
};

static const struct tdesc_type types[] = {
	{AARCH64_CORE, "cpsr_flags", TDESC_FLAGS, 4, NULL, cpsr},
	{AARCH64_FPU, "v2d", TDESC_VECTOR, 2, "ieee_double", NULL},
	{AARCH64_FPU, "v2u", TDESC_VECTOR, 2, "uint64", NULL},
	{AARCH64_FPU, "v2i", TDESC_VECTOR, 2, "int64", NULL},
	{AARCH64_FPU, "v4f", TDESC_VECTOR, 4, "ieee_single", NULL},
	{AARCH64_FPU, "v4u", TDESC_VECTOR, 4, "uint32", NULL},
	{AARCH64_FPU, "v4i", TDESC_VECTOR, 4, "int32", NULL},
	{AARCH64_FPU, "v8f", TDESC_VECTOR, 8, "ieee_half", NULL},
	{AARCH64_FPU, "v8u", TDESC_VECTOR, 8, "uint16", NULL},
	{AARCH64_FPU, "v8i", TDESC_VECTOR, 8, "int16", NULL},
	{AARCH64_FPU, "v8bf16", TDESC_VECTOR, 8, "bfloat16", NULL},
	{AARCH64_FPU, "v16u", TDESC_VECTOR, 16, "uint8", NULL},
	{AARCH64_FPU, "v16i", TDESC_VECTOR, 16, "int8", NULL},
	{AARCH64_FPU, "v1u", TDESC_VECTOR, 1, "uint128", NULL},
	{AARCH64_FPU, "v1i", TDESC_VECTOR, 1, "int128", NULL},
	{AARCH64_FPU, "vnd", TDESC_UNION, 0, NULL, vnd},
	{AARCH64_FPU, "vns", TDESC_UNION, 0, NULL, vns},
	{AARCH64_FPU, "vnh", TDESC_UNION, 0, NULL, vnh},
	{AARCH64_FPU, "vnb", TDESC_UNION, 0, NULL, vnb},
	{AARCH64_FPU, "vnq", TDESC_UNION, 0, NULL, vnq},
	{AARCH64_FPU, "aarch64v", TDESC_UNION, 0, NULL, aarch64v},
	{AARCH64_FPU, "fpsr_flags", TDESC_FLAGS, 4, NULL, fpsr},
	{AARCH64_FPU, "fpcr_flags", TDESC_FLAGS, 4, NULL, fpcr},
	{NULL, NULL, 0, 0, NULL, NULL},
};

void aarch64_target_xml(struct buffer *out)
{
	unsigned int count;
	const struct reg_def *table = aarch64_registers(&count);

	tdesc_append(out, "aarch64", types, table, count);
}
