/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables for people, by libsmartcols. */
#ifndef TRUEHIT_MONITOR_TEXT_TABLE_H
#define TRUEHIT_MONITOR_TEXT_TABLE_H

#include <libsmartcols.h>

#include "gdbstub/base/buffer.h"

struct column {
	const char *title;
	int flags; /* SCOLS_FL_* */
};

/** NULL: out of memory. */
struct libscols_table *text_table_create(const struct column *columns, int count);
/** For _cleanup_(). */
void text_table_unref(struct libscols_table **table);
/** Appends it, with a newline. */
void text_table_append(struct libscols_table *table, struct buffer *out);

#endif
