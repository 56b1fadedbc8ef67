/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <sys/uio.h>

#include "bpf/library/library.h"

static struct match_value *value_of(const struct truehit_filter *filter)
{
	return &filter->truehit->kernel.shared->matches[filter->index].seen;
}

/* ---- what it is aimed at ---- */

void values_begin_aim(const struct truehit_filter *filter)
{
	if (filter->keeps_values)
		match_value_begin(value_of(filter));
}

/* By a system call even in the own process: it is no access that hits, and no fault. */
static bool read_there(pid_t pid, uint64_t addr, size_t len, uint64_t *ret)
{
	const struct iovec here = {ret, len};
	const struct iovec there = {(void *)(uintptr_t)addr, len};

	*ret = 0;
	return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)len;
}

void values_end_aim(const struct truehit_filter *filter, bool is_new)
{
	const struct hw_region *region = &filter->event.region;
	const bool is_data = region->kind != HW_EXECUTE;
	struct match_value *value = value_of(filter);
	uint64_t first;

	if (!filter->keeps_values)
		return;
	match_value_aim(value, region->addr, is_data ? region->len : 0);
	if (is_new && is_data &&
	    read_there(filter->pid, region->addr, region->len, &first))
		match_value_first(value, first);
}

/* ---- what hits have found ---- */

static uint64_t word(const uint8_t *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

bool values_come_before(const struct truehit *truehit)
{
	return truehit->arch->stores != NULL;
}

void values_tell(const struct truehit_filter *filter, const struct watch_values *values,
		 struct truehit_hit *ret)
{
	if (values_come_before(filter->truehit)) {
		ret->has_before = values->len != 0;
		ret->before = word(values->new);
		return;
	}
	ret->has_value = values->len != 0;
	ret->value = word(values->new);
	ret->has_before = (values->len & MATCH_HAS_OLD) != 0;
	ret->before = word(values->old);
}
