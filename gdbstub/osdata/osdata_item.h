/* SPDX-License-Identifier: BSD-2-Clause */
/* What the rows of `info os` consist of, in XML: columns, and names for numbers. */
#ifndef TRUEHIT_OSDATA_OSDATA_ITEM_H
#define TRUEHIT_OSDATA_OSDATA_ITEM_H

#include <sys/types.h>

#include "gdbstub/base/buffer.h"
#include "gdbstub/base/patience.h"

/** A table that is being made. */
struct osdata_table {
	struct buffer *out;
	struct patience patience;
	const char *cut; /* why the rest is left out; NULL: it is not */
};

/** To be asked before each row: is there room and time for it? */
bool osdata_goes_on(struct osdata_table *table);

/** These two go around the columns of a row. */
void osdata_begin_item(struct buffer *out);
void osdata_end_item(struct buffer *out);
/* A column with a text or a number in it. */
void osdata_column(struct buffer *out, const char *name, const char *value);
void osdata_number(struct buffer *out, const char *name, int value);

/** The room for a name below; longer ones are cut off. */
enum { OSDATA_NAME_SIZE = 64 };

/** The number itself where there is no name. */
void osdata_user(uid_t uid, char *name);
void osdata_group(gid_t gid, char *name);
/** What the process calls itself; its number if it is gone. */
void osdata_command_name(int pid, char *name);

#endif
