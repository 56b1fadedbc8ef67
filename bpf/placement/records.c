/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/placement/records.h"

#include <stdlib.h>
#include <string.h>

enum { LOOK_MIN = 64 };

static struct record *owner(struct table_entry *entry)
{
	return entry ? (struct record *)((char *)entry -
					 offsetof(struct record, by_tid))
		     : NULL;
}

static struct record *first_of(const struct records *records, uint32_t tid)
{
	return owner(table_find(&records->by_tid, tid));
}

static struct record *next_of(const struct record *record)
{
	return owner(table_find_next(&record->by_tid));
}

static void record_free(struct records *records, struct record *record)
{
	table_remove(&records->by_tid, &record->by_tid);
	TAILQ_REMOVE(&records->list, record, link);
	records->count--;
	free(record);
}

void records_init(struct records *records)
{
	*records = (struct records){.look_at = LOOK_MIN};
	TAILQ_INIT(&records->list);
}

void records_deinit(struct records *records)
{
	struct record *record;

	while ((record = TAILQ_FIRST(&records->list)))
		record_free(records, record);
	table_deinit(&records->by_tid);
}

bool records_add(struct records *records, const struct bpf_hit_record *hit)
{
	struct record *record = malloc(sizeof(*record));

	if (!record)
		return false;
	record->hit = *hit;
	table_insert(&records->by_tid, &record->by_tid, hit->tid);
	TAILQ_INSERT_TAIL(&records->list, record, link);
	records->count++;
	return true;
}

bool records_have(const struct records *records, uint32_t tid,
		  bool (*is_wanted)(void *data, const struct bpf_hit_record *record),
		  void *data)
{
	const struct record *record = owner(table_find(&records->by_tid, tid));

	for (; record; record = next_of(record))
		if (record->hit.location != RECORD_SPENT &&
		    is_wanted(data, &record->hit))
			return true;
	return false;
}

/* Of records of other kinds the registers are zeros, which no context is. */
static bool is_of_uprobe(const struct record *record)
{
	static const struct bpf_hit_record other;

	return memcmp(record->hit.registers, other.registers,
		      sizeof(other.registers)) != 0;
}

/* One hit of several uprobes leaves the same registers in each of its records. */
static bool is_superseded(const struct record *record)
{
	if (!is_of_uprobe(record))
		return false;
	for (const struct record *later = next_of(record); later;
	     later = next_of(later))
		if (is_of_uprobe(later) &&
		    memcmp(record->hit.registers, later->hit.registers,
			   sizeof(record->hit.registers)) != 0)
			return true;
	return false;
}

/* Only the SIGSTOP that it sent is still to come, or nothing. */
static void spend(struct records *records, struct record *record)
{
	if (record->hit.by_stop)
		record->hit.location = RECORD_SPENT;
	else
		record_free(records, record);
}

bool records_take(struct records *records, uint32_t tid, bool settled,
		  void (*fn)(void *data, const struct bpf_hit_record *record,
			     bool superseded),
		  void *data)
{
	struct record *record, *next;
	bool by_stop = false;

	for (record = first_of(records, tid); record; record = next) {
		by_stop |= record->hit.by_stop;
		if (record->hit.location != RECORD_SPENT)
			fn(data, &record->hit, is_superseded(record));
		next = next_of(record);
		if (settled)
			record_free(records, record);
		else
			spend(records, record);
	}
	return by_stop;
}

void records_forget_location(struct records *records, uint32_t location)
{
	struct record *record, *next;

	for (record = TAILQ_FIRST(&records->list); record; record = next) {
		next = TAILQ_NEXT(record, link);
		if (record->hit.location == location)
			spend(records, record);
	}
}

bool records_are_many(const struct records *records)
{
	return records->count >= records->look_at;
}

void records_drop(struct records *records,
		  bool (*is_dead)(void *data, const struct bpf_hit_record *record),
		  void *data)
{
	struct record *record, *next;

	for (record = TAILQ_FIRST(&records->list); record; record = next) {
		next = TAILQ_NEXT(record, link);
		if (is_dead(data, &record->hit))
			record_free(records, record);
	}
	records->look_at = 2 * records->count + LOOK_MIN;
}
