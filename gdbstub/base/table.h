/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hash table of what callers own: they embed an entry and find it again by a number.
 * Several entries may have the same one. Inserting cannot fail: without memory for more
 * buckets, the table is only slower.
 */
#ifndef TRUEHIT_BASE_TABLE_H
#define TRUEHIT_BASE_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct table_entry {
	struct table_entry *next;
	uint64_t key;
};

/** All zeros: an empty one. */
struct table {
	struct table_entry **buckets; /* NULL: all are in @first */
	struct table_entry *first;
	size_t size; /* buckets, a power of two; 0: none */
	size_t count;
};

/** Frees what the table has allocated; no entry may be used as one any more. */
void table_deinit(struct table *table);
/** The entry must not be in a table. Those of equal keys are found in the order in
 * which they came. */
void table_insert(struct table *table, struct table_entry *entry, uint64_t key);
/** The entry must be in this table. */
void table_remove(struct table *table, struct table_entry *entry);
/** An entry of this key, or NULL. */
struct table_entry *table_find(const struct table *table, uint64_t key);
/** Another one of the same key, after one that table_find or this has returned; NULL:
 * there are no more. */
struct table_entry *table_find_next(const struct table_entry *entry);

#endif
