/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that filters share with the server: where traps are planted, whether the
 * server lives (server_word.h), and a counter for each filter. The program may write
 * there, and nothing but what is shown to people depends on what the server reads of
 * it.
 */
#ifndef TRUEHIT_PADS_FILTER_MEMORY_H
#define TRUEHIT_PADS_FILTER_MEMORY_H

#include "arch/native.h"
#include "gdbstub/pads/pad_memory.h"
#include "gdbstub/base/server_word.h"

enum {
	/* Bytes; pages that nobody has touched take none. */
	FILTER_MEMORY_LEN = SERVER_WORD_MEMORY,
	COUNTER_LEN = 64, /* a cache line */
	COUNTERS = FILTER_MEMORY_LEN / COUNTER_LEN,
};

/** Zeros: there is none. */
struct filter_memory {
	uint64_t addr;	 /* in the program */
	uint8_t *memory; /* the server's; NULL: there is none */
	bool taken[COUNTERS];
	unsigned int next; /* where the next one is looked for first */
};

/** The part of .memory that says where traps are. */
struct native_shared *filter_memory_shadow(const struct filter_memory *filters);
/** A counter, at zero: its number, or -1, if there is none left. */
int filter_memory_take(struct filter_memory *filters);
void filter_memory_give_back(struct filter_memory *filters, unsigned int counter);
/** Where it is in the program, and what it has counted. */
uint64_t filter_memory_addr(const struct filter_memory *filters, unsigned int counter);
uint64_t filter_memory_count(const struct filter_memory *filters, unsigned int counter);
/** Counts one less. */
void filter_memory_uncount(struct filter_memory *filters, unsigned int counter);
/** Takes it out of the program, and of the server. */
void filter_memory_unmap(struct filter_memory *filters, struct injection *injection);
/** Of the server alone. */
void filter_memory_forget(struct filter_memory *filters);

#endif
