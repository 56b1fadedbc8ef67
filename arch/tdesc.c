/* SPDX-License-Identifier: BSD-2-Clause */
#include "arch/tdesc.h"

#include <string.h>

static void append_register(struct buffer *out, const struct reg_def *reg,
			    unsigned int number)
{
	buffer_printf(out,
		      "    <reg name=\"%s\" bitsize=\"%u\" type=\"%s\" regnum=\"%u\"",
		      reg->name, reg->bits, reg->type, number);
	if (reg->group)
		buffer_printf(out, " group=\"%s\"", reg->group);
	buffer_append_string(out, "/>\n");
}

static void open_feature(struct buffer *out, const struct tdesc_types *types,
			 const char *feature)
{
	buffer_printf(out, "  <feature name=\"%s\">\n", feature);
	for (; types->feature; types++)
		if (strcmp(types->feature, feature) == 0)
			buffer_append_string(out, types->xml);
}

void tdesc_append(struct buffer *out, const char *architecture,
		  const struct tdesc_types *types, const struct reg_def *table,
		  unsigned int count)
{
	const char *feature = NULL;

	buffer_printf(out,
		      "<?xml version=\"1.0\"?>\n"
		      "<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n"
		      "<target>\n"
		      "  <architecture>%s</architecture>\n"
		      "  <osabi>GNU/Linux</osabi>\n",
		      architecture);
	for (unsigned int i = 0; i < count; i++) {
		if (!feature || strcmp(feature, table[i].feature) != 0) {
			if (feature)
				buffer_append_string(out, "  </feature>\n");
			feature = table[i].feature;
			open_feature(out, types, feature);
		}
		append_register(out, &table[i], i);
	}
	if (feature)
		buffer_append_string(out, "  </feature>\n");
	buffer_append_string(out, "</target>\n");
}
