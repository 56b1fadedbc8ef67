/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hits of each thread at each location, counted by programs in shared memory: a
 * hash table whose entries threads claim at their first hit. Each hit is counted in
 * one place, by one atomic addition; a location's hits are the sum.
 */
#ifndef TRUEHIT_BPF_SHARED_HIT_TALLY_H
#define TRUEHIT_BPF_SHARED_HIT_TALLY_H

#include <stdbool.h>
#include <stdint.h>

struct bpf_shared;

/*
 * Where a thread's entry is: in one bucket, at the first place that is the thread's
 * own or free. Threads that a program starts one after the other have tids in a row,
 * hence buckets of their own; the factor keeps the rows of the locations apart.
 */
enum { TALLY_SPREAD = 2531 }; /* of 4096 buckets the golden ratio's part */

/** The bucket of the thread 0; others have those that follow it. */
uint32_t tally_bucket(unsigned int location);
/** What tells the entry of a thread from others. */
uint64_t tally_key(unsigned int location, uint32_t tid);

/** Hits by enum bpf_verdict. */
struct tally_hits {
	uint64_t by[3];
};

/** @tid: 0 for all threads that found no entry free. */
typedef void tally_fn(void *data, uint32_t tid, const struct tally_hits *hits);

/** Hands each thread's hits to @fn, once or more. A table that programs are using
 * may be read. */
void tally_each(struct bpf_shared *shared, unsigned int location, tally_fn *fn,
		void *data);
/** The same, and sets them to zero: no hit is handed on twice or forgotten. */
void tally_take(struct bpf_shared *shared, unsigned int location, tally_fn *fn,
		void *data);
/** The sum over all threads. */
struct tally_hits tally_total(struct bpf_shared *shared, unsigned int location);
/** Adds the false hits of each location to @by_location, of BPF_LOCATIONS_MAX. */
void tally_false_hits(struct bpf_shared *shared, uint64_t *by_location);
/** The hits of a thread that has ended, or is stopped, become those of the threads
 * without an entry. */
void tally_retire(struct bpf_shared *shared, unsigned int location, uint32_t tid);
/** Retires @ended threads if a new one would find no entry free. */
void tally_make_room(struct bpf_shared *shared, unsigned int location, uint32_t tid,
		     bool (*ended)(uint32_t tid));
/** Gives the location's entries back. No program of it may run. */
void tally_clear(struct bpf_shared *shared, unsigned int location);

#endif
