/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/base/table.h"

#include <stdlib.h>

enum { SIZE_MIN = 64 };

/* The upper bits of a product depend on all bits of the key (Knuth, The Art of Computer
 * Programming, volume 3, section 6.4: the golden ratio). */
static size_t hash(uint64_t key, size_t size)
{
	return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (size - 1);
}

static struct table_entry **bucket(struct table *table, uint64_t key)
{
	return table->size > 0 ? &table->buckets[hash(key, table->size)]
			       : &table->first;
}

void table_deinit(struct table *table)
{
	free(table->buckets);
	*table = (struct table){0};
}

static void append(struct table_entry **link, struct table_entry *entry)
{
	while (*link)
		link = &(*link)->next;
	*link = entry;
	entry->next = NULL;
}

static void move_all(struct table *to, struct table_entry *entry)
{
	while (entry) {
		struct table_entry *next = entry->next;

		append(bucket(to, entry->key), entry);
		entry = next;
	}
}

/* So that a bucket has one entry or two. */
static void grow(struct table *table)
{
	struct table larger = {.size = table->size > 0 ? 2 * table->size : SIZE_MIN,
			       .count = table->count};

	larger.buckets = calloc(larger.size, sizeof(struct table_entry *));
	if (!larger.buckets)
		return;
	move_all(&larger, table->first);
	for (size_t i = 0; i < table->size; i++)
		move_all(&larger, table->buckets[i]);
	free(table->buckets);
	*table = larger;
}

void table_insert(struct table *table, struct table_entry *entry, uint64_t key)
{
	if (table->count >= (table->size > 0 ? table->size : 1))
		grow(table);
	entry->key = key;
	append(bucket(table, key), entry);
	table->count++;
}

void table_remove(struct table *table, struct table_entry *entry)
{
	struct table_entry **link = bucket(table, entry->key);

	while (*link && *link != entry)
		link = &(*link)->next;
	if (!*link)
		return;
	*link = entry->next;
	entry->next = NULL;
	table->count--;
}

static struct table_entry *first_of(struct table_entry *entry, uint64_t key)
{
	while (entry && entry->key != key)
		entry = entry->next;
	return entry;
}

struct table_entry *table_find(const struct table *table, uint64_t key)
{
	return first_of(table->size > 0 ? table->buckets[hash(key, table->size)]
					: table->first,
			key);
}

struct table_entry *table_find_next(const struct table_entry *entry)
{
	return first_of(entry->next, entry->key);
}
