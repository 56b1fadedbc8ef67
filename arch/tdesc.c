/* SPDX-License-Identifier: BSD-2-Clause */
#include "arch/tdesc.h"

#include <string.h>

#include "arch/register_table.h"

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

static void append_field(struct buffer *out, const struct tdesc_field *field)
{
	buffer_printf(out, "      <field name=\"%s\"", field->name);
	if (field->type)
		buffer_printf(out, " type=\"%s\"/>\n", field->type);
	else
		buffer_printf(out, " start=\"%u\" end=\"%u\"%s/>\n", field->start,
			      field->end,
			      field->start == field->end ? " type=\"bool\"" : "");
}

static void append_type(struct buffer *out, const struct tdesc_type *type)
{
	static const char *const elements[] = {
		[TDESC_VECTOR] = "vector",
		[TDESC_UNION] = "union",
		[TDESC_FLAGS] = "flags",
	};
	const char *element = elements[type->kind];

	buffer_printf(out, "    <%s id=\"%s\"", element, type->id);
	if (type->kind == TDESC_VECTOR) {
		buffer_printf(out, " type=\"%s\" count=\"%u\"/>\n", type->element,
			      type->size);
		return;
	}
	if (type->kind == TDESC_FLAGS)
		buffer_printf(out, " size=\"%u\"", type->size);
	buffer_append_string(out, ">\n");
	for (const struct tdesc_field *field = type->fields; field->name; field++)
		append_field(out, field);
	buffer_printf(out, "    </%s>\n", element);
}

static void open_feature(struct buffer *out, const struct tdesc_type *types,
			 const char *feature)
{
	buffer_printf(out, "  <feature name=\"%s\">\n", feature);
	for (; types->feature; types++)
		if (strcmp(types->feature, feature) == 0)
			append_type(out, types);
}

void tdesc_append(struct buffer *out, const char *architecture,
		  const struct tdesc_type *types, const struct reg_def *table,
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

/* ---- for lldb (lldbgdbremote.md, and the names of groups that lldb-server has) ----
 */

static const char *lldb_name(const struct arch_ops *arch, const char *name)
{
	for (const struct reg_name *row = arch->lldb_names; row->name; row++)
		if (strcmp(row->name, name) == 0)
			return row->lldb;
	return NULL;
}

static const char *lldb_group(const struct arch_ops *arch, const struct reg_def *reg)
{
	const struct reg_def *pc = reg_by_number(arch, arch->pc_reg);

	if (reg->regset == pc->regset && strcmp(reg->feature, pc->feature) == 0)
		return "General Purpose Registers";
	if (reg->bits > 64 || reg->group)
		return "Floating Point Registers";
	return "System Registers";
}

static void append_lldb_register(struct buffer *out, const struct arch_ops *arch,
				 const struct reg_def *reg, unsigned int number)
{
	const char *other = lldb_name(arch, reg->name);

	buffer_printf(out, "<reg name=\"%s\" ", other ? other : reg->name);
	if (other)
		buffer_printf(out, "altname=\"%s\" ", reg->name);
	buffer_printf(out, "bitsize=\"%u\" regnum=\"%u\" group=\"%s\"", reg->bits,
		      number, lldb_group(arch, reg));
	if (reg->bits > 64)
		buffer_append_string(out,
				     " encoding=\"vector\" format=\"vector-uint8\"");
	buffer_append_string(out, "/>\n");
}

void tdesc_append_lldb(struct buffer *out, const struct arch_ops *arch)
{
	unsigned int count;
	const struct reg_def *table = arch->registers(&count);

	buffer_printf(out,
		      "<?xml version=\"1.0\"?>\n<target version=\"1.0\">\n"
		      "<architecture>%s</architecture>\n<feature>\n",
		      arch->name);
	for (unsigned int i = 0; i < count; i++)
		append_lldb_register(out, arch, &table[i], i);
	buffer_append_string(out, "</feature>\n</target>\n");
}
