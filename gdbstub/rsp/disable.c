/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/rsp/disable.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	unsigned int mask;
	const char *help;
} rows[] = {
	{"vCont", DISABLE_VCONT, "all vCont packets"},
	{"qC", DISABLE_QC, "which thread is the current one"},
	{"qfThreadInfo", DISABLE_QFTHREADINFO, "the list of threads"},
	{"Tthread", DISABLE_TTHREAD, "the thread in T stop replies"},
	{"threads", DISABLE_VCONT | DISABLE_QC | DISABLE_QFTHREADINFO | DISABLE_TTHREAD,
	 "all of the above"},
	{"T", DISABLE_T, "T stop replies"},
};
enum { NROWS = sizeof(rows) / sizeof(rows[0]) };

struct error *disable_parse(const char *list, unsigned int *mask)
{
	unsigned int found = 0;

	while (*list != '\0') {
		size_t len = strcspn(list, ",");
		int i = 0;

		while (i < NROWS && (strlen(rows[i].name) != len ||
				     memcmp(rows[i].name, list, len) != 0))
			i++;
		if (i == NROWS)
			return error_create(0, "no packet to disable: '%.*s'", (int)len,
					    list);
		found |= rows[i].mask;
		list += len;
		list += *list == ',';
	}
	*mask |= found;
	return NULL;
}

void disable_print_names(void)
{
	printf("Packets that can be disabled:\n");
	for (int i = 0; i < NROWS; i++)
		printf("  %-12s  %s\n", rows[i].name, rows[i].help);
}
