/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/monitor/text_table.h"

#include "gdbstub/base/cleanup.h"

void text_table_unref(struct libscols_table **table)
{
	scols_unref_table(*table);
}

struct libscols_table *text_table_create(const struct column *columns, int count)
{
	struct libscols_table *table = scols_new_table();

	if (!table)
		return NULL;
	scols_table_enable_maxout(table, 0);
	for (int i = 0; i < count; i++)
		scols_table_new_column(table, columns[i].title, 0, columns[i].flags);
	return table;
}

void text_table_append(struct libscols_table *table, struct buffer *out)
{
	_cleanup_free_ char *text = NULL;

	if (scols_print_table_to_string(table, &text) == 0)
		buffer_append_string(out, text);
	buffer_append_char(out, '\n');
}
