/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The value filter of write watchpoints: of each the bytes are kept that its last hit
 * has found, and a hit that finds the same again is a false one.
 *
 * Reading the bytes, comparing and keeping them is one step, under a lock: whoever
 * writes hits after the write, so that the last hit to compare has seen all writes
 * before it, and no change is forgotten among threads.
 */
#ifndef TRUEHIT_BPF_SHARED_WATCH_LAST_H
#define TRUEHIT_BPF_SHARED_WATCH_LAST_H

#include <stdbool.h>
#include <stdint.h>

/** What can be compared, in bytes and words of 8. */
enum { WATCH_BYTES = 32, WATCH_WORDS = WATCH_BYTES / 8 };

/** What a write has changed; zeros after the bytes that are watched. */
struct watch_values {
	uint8_t old[WATCH_BYTES], new[WATCH_BYTES];
	uint64_t len; /* how many are watched; 0: nothing was compared */
};

/** What programs and the stub share. */
struct watch_last {
	uint64_t lock;	 /* 1: somebody compares */
	uint64_t unsure; /* 1: the next hit counts as a change, whatever it finds */
	uint8_t bytes[WATCH_BYTES];
};

/** The next hit counts as a change. */
void watch_last_doubt(struct watch_last *last);
/** Are these WATCH_BYTES bytes what is kept? */
bool watch_last_equals(struct watch_last *last, const uint8_t *bytes);
/** Somebody who compares, too, has these WATCH_BYTES bytes: unless they are what is
 * kept, the next hit counts as a change, and else it does not. */
void watch_last_agree(struct watch_last *last, const uint8_t *bytes);
/** Keeps these WATCH_BYTES bytes. Not @sure: the next hit counts as a change. */
void watch_last_set(struct watch_last *last, const uint8_t *bytes, bool sure);
/** Takes a hit back, unless there was another since, which is kept then. The next one
 * counts as a change. */
void watch_last_take_back(struct watch_last *last, const struct watch_values *values);
/**
 * A hit: keeps what @read(@data) finds, WATCH_BYTES bytes; *ret
 * is what has become of the first @len. True: that is a change, also if nothing can be
 * read (*ret has no values then).
 */
bool watch_last_exchange(struct watch_last *last, unsigned int len,
			 bool (*read)(void *data, uint8_t *bytes), void *data,
			 struct watch_values *ret);

#endif
