/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values of one of the library's filters (TRUEHIT_VALUES, bpf/library/truehit.h): what
 * is watched is read at each hit, armed or not, and compared with what the hit before
 * has found.
 *
 * Reading, comparing and keeping is one step, under a lock, as in watch_last.h. A
 * program that does not get it in time cannot say what its hit has found, nor can the
 * next one say what was there before; and so it is while the filter is being aimed.
 */
#ifndef TRUEHIT_BPF_SHARED_MATCH_VALUE_H
#define TRUEHIT_BPF_SHARED_MATCH_VALUE_H

#include <stdint.h>

enum match_sure {
	MATCH_SURE,   /* `last` is what the last hit has found */
	MATCH_UNSURE, /* ... is not known; the next one knows */
	MATCH_AIMED,  /* the same, and there was no hit since the aim */
};

enum {
	MATCH_VALUE_BYTES = 8, /* at most */
	/* In watch_values.len of a record, beside the length: `old` is known. */
	MATCH_HAS_OLD = 0x100,
};
/* Of what is watched while that is being changed: longer than anything is. */
#define MATCH_CHANGING UINT64_MAX

struct match_value {
	uint64_t lock;	    /* 1: somebody compares, or aims */
	uint64_t unsure;    /* enum match_sure */
	uint64_t addr, len; /* of what is watched; 0 bytes: nothing is */
	uint64_t last;
	uint64_t changes; /* not 0: hits that find the same again do not match */
};

/** Hits have no values until the next call. */
void match_value_begin(struct match_value *value);
/** It is aimed there, at @len bytes or, 0, at nothing that has a value. */
void match_value_aim(struct match_value *value, uint64_t addr, uint64_t len);
/** What was read there since: that is what was there before the first hit, unless that
 * has come already. */
void match_value_first(struct match_value *value, uint64_t last);

#endif
