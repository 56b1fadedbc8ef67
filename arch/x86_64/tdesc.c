/* SPDX-License-Identifier: BSD-2-Clause */
#include "arch/tdesc.h"
#include "arch/x86_64/x86_64.h"

#define FIELD(name, bit)                                                               \
	"      <field name=\"" name "\" start=\"" #bit "\" end=\"" #bit                \
	"\" type=\"bool\"/>\n"

/* The one nameless field is the bit that always reads as 1. */
#define EFLAGS                                                                         \
	"    <flags id=\"i386_eflags\" size=\"4\">\n" FIELD("CF", 0) FIELD("", 1)      \
		FIELD("PF", 2) FIELD("AF", 4) FIELD("ZF", 6) FIELD("SF", 7)            \
			FIELD("TF", 8) FIELD("IF", 9) FIELD("DF", 10) FIELD("OF", 11)  \
				FIELD("NT", 14) FIELD("RF", 16) FIELD("VM", 17) FIELD( \
					"AC", 18) FIELD("VIF", 19) FIELD("VIP", 20)    \
					FIELD("ID", 21) "    </flags>\n"

#define MXCSR                                                                          \
	"    <flags id=\"i386_mxcsr\" size=\"4\">\n" FIELD("IE", 0) FIELD("DE", 1)     \
		FIELD("ZE", 2) FIELD("OE", 3) FIELD("UE", 4) FIELD("PE", 5)            \
			FIELD("DAZ", 6) FIELD("IM", 7) FIELD("DM", 8) FIELD("ZM", 9)   \
				FIELD("OM", 10) FIELD("UM", 11) FIELD("PM", 12)        \
					FIELD("FZ", 15) "    </flags>\n"

#define VECTOR(id, type, count)                                                        \
	"    <vector id=\"" id "\" type=\"" type "\" count=\"" #count "\"/>\n"
#define MEMBER(name, type) "      <field name=\"" name "\" type=\"" type "\"/>\n"

#define VEC128                                                                         \
	VECTOR("v8bf16", "bfloat16", 8)                                                \
	VECTOR("v8h", "ieee_half", 8)                                                  \
	VECTOR("v4f", "ieee_single", 4)                                                \
	VECTOR("v2d", "ieee_double", 2)                                                \
	VECTOR("v16i8", "int8", 16)                                                    \
	VECTOR("v8i16", "int16", 8)                                                    \
	VECTOR("v4i32", "int32", 4)                                                    \
	VECTOR("v2i64", "int64", 2)                                                    \
	"    <union id=\"vec128\">\n" MEMBER("v8_bfloat16", "v8bf16") MEMBER(          \
		"v8_half", "v8h") MEMBER("v4_float", "v4f") MEMBER("v2_double", "v2d") \
		MEMBER("v16_int8", "v16i8") MEMBER("v8_int16", "v8i16")                \
			MEMBER("v4_int32", "v4i32") MEMBER("v2_int64", "v2i64")        \
				MEMBER("uint128", "uint128") "    </union>\n"

/* A type is known only in the feature that defines it. */
static const struct tdesc_types types[] = {
	{X86_64_CORE, EFLAGS},
	{X86_64_SSE, VEC128},
	{X86_64_SSE, MXCSR},
	{X86_64_AVX512, VEC128},
	{X86_64_AVX512, VECTOR("v2ui128", "uint128", 2)},
	{NULL, NULL},
};

void x86_64_target_xml(struct buffer *out)
{
	unsigned int count;
	const struct reg_def *table = x86_64_registers(&count);

	tdesc_append(out, "i386:x86-64", types, table, count);
}
