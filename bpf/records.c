/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/records.h"

#include <stdlib.h>
#include <string.h>

void records_deinit(struct records *records)
{
	free(records->record);
	*records = (struct records){0};
}

bool records_add(struct records *records, const struct bpf_hit_record *record)
{
	if (records->count == records->capacity) {
		size_t capacity = records->capacity ? 2 * records->capacity : 64;
		void *grown = realloc(records->record, capacity * sizeof(*record));

		if (!grown)
			return false;
		records->record = grown;
		records->capacity = capacity;
	}
	records->record[records->count++] = *record;
	return true;
}

/* Of records of other kinds the registers are zeros, which no context is. */
static bool is_of_uprobe(const struct bpf_hit_record *record)
{
	static const struct bpf_hit_record other;

	return memcmp(record->registers, other.registers, sizeof(other.registers)) != 0;
}

/* One hit of several uprobes leaves the same registers in each of its records. */
static bool is_superseded(const struct records *records, size_t number)
{
	const struct bpf_hit_record *record = &records->record[number];

	if (!is_of_uprobe(record))
		return false;
	for (size_t i = number + 1; i < records->count; i++) {
		const struct bpf_hit_record *later = &records->record[i];

		if (later->tid == record->tid && is_of_uprobe(later) &&
		    memcmp(record->registers, later->registers,
			   sizeof(record->registers)) != 0)
			return true;
	}
	return false;
}

bool records_take(struct records *records, uint32_t tid, bool settled,
		  void (*fn)(void *data, const struct bpf_hit_record *record,
			     bool superseded),
		  void *data)
{
	bool by_stop = false;
	size_t kept = 0;

	for (size_t i = 0; i < records->count; i++) {
		struct bpf_hit_record record = records->record[i];

		if (record.tid == tid) {
			by_stop |= record.by_stop;
			if (record.location != RECORD_SPENT)
				fn(data, &record, is_superseded(records, i));
			if (settled || !record.by_stop)
				continue;
			record.location = RECORD_SPENT;
		}
		records->record[kept++] = record;
	}
	records->count = kept;
	return by_stop;
}

void records_forget_location(struct records *records, uint32_t location)
{
	size_t kept = 0;

	for (size_t i = 0; i < records->count; i++) {
		struct bpf_hit_record record = records->record[i];

		if (record.location == location) {
			if (!record.by_stop)
				continue;
			record.location = RECORD_SPENT;
		}
		records->record[kept++] = record;
	}
	records->count = kept;
}

void records_drop(struct records *records,
		  bool (*is_dead)(void *data, const struct bpf_hit_record *record),
		  void *data)
{
	size_t kept = 0;

	for (size_t i = 0; i < records->count; i++)
		if (!is_dead(data, &records->record[i]))
			records->record[kept++] = records->record[i];
	records->count = kept;
}
