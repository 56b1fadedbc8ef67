/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/pads/filter_memory.h"

#include <string.h>

#include "gdbstub/base/server_word.h"

/* The places of the first are the shadow's. */
enum {
	FIRST_COUNTER = (sizeof(struct native_shared) + COUNTER_LEN - 1) / COUNTER_LEN,
	USED_COUNTERS = COUNTERS - FIRST_COUNTER,
};

struct native_shared *filter_memory_shadow(const struct filter_memory *filters)
{
	return (struct native_shared *)(void *)filters->memory;
}

static uint64_t *counter_at(const struct filter_memory *filters, unsigned int counter)
{
	return (uint64_t *)(void *)(filters->memory + counter * COUNTER_LEN);
}

int filter_memory_take(struct filter_memory *filters)
{
	for (unsigned int i = 0; i < USED_COUNTERS; i++) {
		const unsigned int index = (filters->next + i) % USED_COUNTERS;
		const unsigned int counter = FIRST_COUNTER + index;

		if (filters->taken[counter])
			continue;
		filters->taken[counter] = true;
		filters->next = index + 1;
		*counter_at(filters, counter) = 0;
		return (int)counter;
	}
	return -1;
}

void filter_memory_give_back(struct filter_memory *filters, unsigned int counter)
{
	filters->taken[counter] = false;
}

uint64_t filter_memory_addr(const struct filter_memory *filters, unsigned int counter)
{
	return filters->addr + counter * (uint64_t)COUNTER_LEN;
}

uint64_t filter_memory_count(const struct filter_memory *filters, unsigned int counter)
{
	return __atomic_load_n(counter_at(filters, counter), __ATOMIC_RELAXED);
}

void filter_memory_uncount(struct filter_memory *filters, unsigned int counter)
{
	__atomic_sub_fetch(counter_at(filters, counter), 1, __ATOMIC_RELAXED);
}

void filter_memory_unmap(struct filter_memory *filters, struct injection *injection)
{
	if (filters->memory)
		pad_memory_unmap(injection, filters->addr, FILTER_MEMORY_LEN);
	filter_memory_forget(filters);
}

void filter_memory_forget(struct filter_memory *filters)
{
	if (filters->memory)
		server_word_unmap(filters->memory);
	filters->memory = NULL;
	memset(filters->taken, 0, sizeof(filters->taken));
}
