/* SPDX-License-Identifier: BSD-2-Clause */
#include "arch/tdesc.h"
#include "arch/aarch64/aarch64.h"

#include <string.h>

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

/* The same for those of SVE. */
static const struct tdesc_field svevnq[] = {
	{"u", "svevqu", 0, 0},
	{"s", "svevqs", 0, 0},
	{NULL, NULL, 0, 0},
};

static const struct tdesc_field svevnd[] = {
	{"f", "svevdf", 0, 0},
	{"u", "svevdu", 0, 0},
	{"s", "svevds", 0, 0},
	{NULL, NULL, 0, 0},
};

static const struct tdesc_field svevns[] = {
	{"f", "svevsf", 0, 0},
	{"u", "svevsu", 0, 0},
	{"s", "svevss", 0, 0},
	{NULL, NULL, 0, 0},
};

static const struct tdesc_field svevnh[] = {
	{"f", "svevhf", 0, 0},
	{"u", "svevhu", 0, 0},
	{"s", "svevhs", 0, 0},
	{NULL, NULL, 0, 0},
};

static const struct tdesc_field svevnb[] = {
	{"u", "svevbu", 0, 0},
	{"s", "svevbs", 0, 0},
	{NULL, NULL, 0, 0},
};

static const struct tdesc_field svev[] = {
	{"q", "svevnq", 0, 0}, {"d", "svevnd", 0, 0}, {"s", "svevns", 0, 0},
	{"h", "svevnh", 0, 0}, {"b", "svevnb", 0, 0}, {NULL, NULL, 0, 0},
};

/* Arm ARM, "SVCR". */
static const struct tdesc_field svcr[] = {
	{"SM", NULL, 0, 0},
	{"ZA", NULL, 1, 1},
	{NULL, NULL, 0, 0},
};

/* Kernel, Documentation/arch/arm64/gcs.rst. */
static const struct tdesc_field gcs_features[] = {
	{"PR_SHADOW_STACK_ENABLE", NULL, 0, 0},
	{"PR_SHADOW_STACK_WRITE", NULL, 1, 1},
	{"PR_SHADOW_STACK_PUSH", NULL, 2, 2},
	{NULL, NULL, 0, 0},
};

/* Arm ARM, "FPMR". */
static const struct tdesc_field fpmr[] = {
	{"F8S1", NULL, 0, 2},	  {"F8S2", NULL, 3, 5},	     {"F8D", NULL, 6, 8},
	{"OSM", NULL, 14, 14},	  {"OSC", NULL, 15, 15},     {"LSCALE", NULL, 16, 22},
	{"NSCALE", NULL, 24, 31}, {"LSCALE2", NULL, 32, 37}, {NULL, NULL, 0, 0},
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
	/* Vectors of 16 bytes; scaled below. */
	{AARCH64_SVE, "svevqu", TDESC_VECTOR, 1, "uint128", NULL},
	{AARCH64_SVE, "svevqs", TDESC_VECTOR, 1, "int128", NULL},
	{AARCH64_SVE, "svevdf", TDESC_VECTOR, 2, "ieee_double", NULL},
	{AARCH64_SVE, "svevdu", TDESC_VECTOR, 2, "uint64", NULL},
	{AARCH64_SVE, "svevds", TDESC_VECTOR, 2, "int64", NULL},
	{AARCH64_SVE, "svevsf", TDESC_VECTOR, 4, "ieee_single", NULL},
	{AARCH64_SVE, "svevsu", TDESC_VECTOR, 4, "uint32", NULL},
	{AARCH64_SVE, "svevss", TDESC_VECTOR, 4, "int32", NULL},
	{AARCH64_SVE, "svevhf", TDESC_VECTOR, 8, "ieee_half", NULL},
	{AARCH64_SVE, "svevhu", TDESC_VECTOR, 8, "uint16", NULL},
	{AARCH64_SVE, "svevhs", TDESC_VECTOR, 8, "int16", NULL},
	{AARCH64_SVE, "svevbu", TDESC_VECTOR, 16, "uint8", NULL},
	{AARCH64_SVE, "svevbs", TDESC_VECTOR, 16, "int8", NULL},
	{AARCH64_SVE, "svevnq", TDESC_UNION, 0, NULL, svevnq},
	{AARCH64_SVE, "svevnd", TDESC_UNION, 0, NULL, svevnd},
	{AARCH64_SVE, "svevns", TDESC_UNION, 0, NULL, svevns},
	{AARCH64_SVE, "svevnh", TDESC_UNION, 0, NULL, svevnh},
	{AARCH64_SVE, "svevnb", TDESC_UNION, 0, NULL, svevnb},
	{AARCH64_SVE, "svev", TDESC_UNION, 0, NULL, svev},
	{AARCH64_SVE, "svep", TDESC_VECTOR, 2, "uint8", NULL},
	{AARCH64_SME, "svcr_flags", TDESC_FLAGS, 8, NULL, svcr},
	/* The matrix and its rows, of vectors of 16 bytes; scaled, too. */
	{AARCH64_SME, "sme_bv", TDESC_VECTOR, 16, "uint8", NULL},
	{AARCH64_SME, "sme_bvv", TDESC_VECTOR, 16, "sme_bv", NULL},
	{AARCH64_SME2, "sme2_bv", TDESC_VECTOR, 64, "uint8", NULL},
	{AARCH64_GCS_LINUX, "features_flags", TDESC_FLAGS, 8, NULL, gcs_features},
	{AARCH64_FPMR, "fpmr_flags", TDESC_FLAGS, 8, NULL, fpmr},
	{NULL, NULL, 0, 0, NULL, NULL},
};

enum { NTYPES = sizeof(types) / sizeof(types[0]) };

static bool is_of(const struct tdesc_type *type, const char *feature)
{
	return type->feature && type->kind == TDESC_VECTOR &&
	       strcmp(type->feature, feature) == 0;
}

void aarch64_target_xml(struct buffer *out)
{
	unsigned int count;
	const struct reg_def *table = aarch64_registers(&count);
	struct tdesc_type scaled[NTYPES];

	for (unsigned int i = 0; i < NTYPES; i++) {
		scaled[i] = types[i];
		if (is_of(&types[i], AARCH64_SVE))
			scaled[i].size *= aarch64_vector_quads();
		if (is_of(&types[i], AARCH64_SME))
			scaled[i].size *= aarch64_streaming_quads();
	}
	tdesc_append(out, "aarch64", scaled, table, count);
}
