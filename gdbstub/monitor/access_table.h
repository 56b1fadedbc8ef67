/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Accesses, counted by thread, by where the thread was, and by what they have made of
 * the value. It has ACCESS_ROWS_MAX rows, each with the first ACCESS_CHANGES_MAX
 * changes that differ; what comes beyond is counted.
 */
#ifndef TRUEHIT_MONITOR_ACCESS_TABLE_H
#define TRUEHIT_MONITOR_ACCESS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "gdbstub/base/table.h"

enum {
	ACCESS_ROWS_MAX = 1024,
	ACCESS_CHANGES_MAX = 8,
};

/** What an access has found, and what was there after it; 0 where that is not known. */
struct access_change {
	bool has_before, has_value;
	uint64_t before, value;
	uint64_t count;
};

struct access_row {
	struct table_entry by_pc;
	uint64_t pc; /* as the hit has told it */
	pid_t tid;
	unsigned int part; /* of what is watched */
	uint64_t count;
	struct access_change changes[ACCESS_CHANGES_MAX];
	unsigned int nchanges;
	uint64_t others; /* accesses with other changes */
};

struct access_table {
	struct table by_pc;
	struct access_row *rows[ACCESS_ROWS_MAX];
	size_t count;
	uint64_t beyond; /* accesses for which there was no row */
};

/** Frees the rows. */
void access_table_deinit(struct access_table *table);
/** Counts one access; of @change all but the count. */
void access_table_count(struct access_table *table, uint64_t pc, pid_t tid,
			unsigned int part, const struct access_change *change);
/** The rows and their changes, the most frequent first. */
void access_table_sort(struct access_table *table);

#endif
