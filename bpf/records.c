/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/records.h"

#include <stdlib.h>

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

bool records_take(struct records *records, uint32_t tid, bool stop_seen,
		  void (*fn)(void *data, const struct bpf_hit_record *record),
		  void *data)
{
	bool by_stop = false;
	size_t kept = 0;

	for (size_t i = 0; i < records->count; i++) {
		struct bpf_hit_record record = records->record[i];

		if (record.tid == tid) {
			by_stop |= record.by_stop;
			if (record.location != RECORD_SPENT)
				fn(data, &record);
			if (stop_seen || !record.by_stop)
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
