/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/pads/filter_memory.h"

#include <string.h>
#include <sys/mman.h>

_Static_assert(sizeof(struct native_shared) <= COUNTER_LEN,
	       "the first counter's place is the shadow's");

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
	for (unsigned int i = 0; i < COUNTERS - 1; i++) {
		const unsigned int counter = 1 + (filters->last + i) % (COUNTERS - 1);

		if (filters->taken[counter])
			continue;
		filters->taken[counter] = true;
		filters->last = counter;
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

void filter_memory_unmap(struct filter_memory *filters,
			 const struct injection *injection)
{
	if (filters->memory)
		pad_memory_unmap(injection, filters->addr, FILTER_MEMORY_LEN);
	filter_memory_forget(filters);
}

void filter_memory_forget(struct filter_memory *filters)
{
	if (filters->memory)
		munmap(filters->memory, FILTER_MEMORY_LEN);
	filters->memory = NULL;
	memset(filters->taken, 0, sizeof(filters->taken));
}
