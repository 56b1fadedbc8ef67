/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers that the value of a condition may turn on: small ones; those that are in it,
 * and those that it reads; sums and differences of two of these.
 */
#ifndef TRUEHIT_HITS_CRITICAL_NUMBERS_H
#define TRUEHIT_HITS_CRITICAL_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "gdbstub/agent/list.h"

enum { CRITICAL_NUMBERS_MAX = 24, CRITICAL_NUMBERS_SMALL = 256 };

struct critical_numbers {
	uint64_t number[CRITICAL_NUMBERS_MAX];
	unsigned int count;
	unsigned int next_small;
	/* The next pair of numbers, and what to do with it. */
	unsigned int first, second, way;
};

/** None if a condition may loop: to try many would take long. */
void critical_numbers_init(struct critical_numbers *numbers,
			   const struct agent_list *conditions);
/** A number that a condition reads. Nothing if there are enough. */
void critical_numbers_add(struct critical_numbers *numbers, uint64_t number);
/** False: there is none left. */
bool critical_numbers_next(struct critical_numbers *numbers, uint64_t *number);

#endif
