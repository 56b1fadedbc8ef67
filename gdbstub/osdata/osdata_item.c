/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/osdata/osdata_item.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "gdbstub/inferior/proc.h"

void osdata_column(struct buffer *out, const char *name, const char *value)
{
	buffer_printf(out, "<column name=\"");
	buffer_append_xml(out, name);
	buffer_append_string(out, "\">");
	buffer_append_xml(out, value);
	buffer_append_string(out, "</column>");
}

void osdata_number(struct buffer *out, const char *name, int value)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", value);
	osdata_column(out, name, text);
}

enum { TABLE_MAX = 16 << 20 }; /* bytes */

bool osdata_goes_on(struct osdata_table *table)
{
	if (!table->cut)
		table->cut = patience_ended(&table->patience);
	if (!table->cut && table->out->len >= TABLE_MAX)
		table->cut = "it is longer than 16 MiB";
	return !table->cut;
}

void osdata_begin_item(struct buffer *out)
{
	buffer_append_string(out, "<item>");
}

void osdata_end_item(struct buffer *out)
{
	buffer_append_string(out, "</item>\n");
}

enum { ENTRY_SIZE = 16384 }; /* of the databases of users and groups */

void osdata_user(uid_t uid, char *name)
{
	char data[ENTRY_SIZE];
	struct passwd entry, *found = NULL;

	getpwuid_r(uid, &entry, data, sizeof(data), &found);
	if (found)
		snprintf(name, OSDATA_NAME_SIZE, "%s", found->pw_name);
	else
		snprintf(name, OSDATA_NAME_SIZE, "%u", uid);
}

void osdata_group(gid_t gid, char *name)
{
	char data[ENTRY_SIZE];
	struct group entry, *found = NULL;

	getgrgid_r(gid, &entry, data, sizeof(data), &found);
	if (found)
		snprintf(name, OSDATA_NAME_SIZE, "%s", found->gr_name);
	else
		snprintf(name, OSDATA_NAME_SIZE, "%u", gid);
}

void osdata_command_name(int pid, char *name)
{
	_cleanup_buffer_ struct buffer comm = {0};
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	if (proc_read(path, &comm) < 0)
		snprintf(name, OSDATA_NAME_SIZE, "%d", pid);
	else
		snprintf(name, OSDATA_NAME_SIZE, "%.*s",
			 (int)strcspn(buffer_string(&comm), "\n"),
			 buffer_string(&comm));
}
