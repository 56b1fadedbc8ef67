/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hit records that wait for the stop of their thread. Programs leave them the
 * moment a thread hits; the tracer may see another thread's stop first: of thousands
 * that hit at once, each stop finds the records of its thread at once.
 */
#ifndef TRUEHIT_BPF_PLACEMENT_RECORDS_H
#define TRUEHIT_BPF_PLACEMENT_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "gdbstub/base/table.h"
#include "bpf/shared/hits.h"

/** Never a location index: the hit was reported or its location is gone, but the
 * SIGSTOP that the program sent is still to be seen. */
enum { RECORD_SPENT = BPF_LOCATIONS_MAX };

struct record {
	TAILQ_ENTRY(record) link;
	struct table_entry by_tid;
	struct bpf_hit_record hit;
};

struct records {
	TAILQ_HEAD(, record) list; /* in the order of the hits */
	struct table by_tid;	   /* a thread's in the same order */
	size_t count;
	size_t look_at; /* so many are a reason for records_drop() */
};

void records_init(struct records *records);
void records_deinit(struct records *records);
/** False: out of memory, the record is lost. */
bool records_add(struct records *records, const struct bpf_hit_record *record);

/**
 * Takes the records of a thread out, and calls @fn(@data) for those not spent.
 * @superseded: the thread has run on since, to another hit at a uprobe.
 * @settled: the thread has stopped by the SIGSTOP of its last record, or will not; else
 * records with a SIGSTOP stay, spent, until it is seen. True: there was such a one.
 */
bool records_take(struct records *records, uint32_t tid, bool settled,
		  void (*fn)(void *data, const struct bpf_hit_record *record,
			     bool superseded),
		  void *data);
/** Is @is_wanted(@data) true of any of the thread's that are not spent? */
bool records_have(const struct records *records, uint32_t tid,
		  bool (*is_wanted)(void *data, const struct bpf_hit_record *record),
		  void *data);
/** The location is gone: its hits are of no interest any longer. */
void records_forget_location(struct records *records, uint32_t location);
/** Are there twice as many as records_drop() has left? */
bool records_are_many(const struct records *records);
/** Drops the records for which @is_dead(@data) says so. */
void records_drop(struct records *records,
		  bool (*is_dead)(void *data, const struct bpf_hit_record *record),
		  void *data);

#endif
