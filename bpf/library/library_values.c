/* SPDX-License-Identifier: BSD-2-Clause */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

/* What cannot be read is not known. */
void values_open(struct truehit_filter *filter)
{
	char name[32];

	snprintf(name, sizeof(name), "/proc/%d/mem", filter->pid);
	if (filter->keeps_values)
		filter->memory_fd = open(name, O_RDONLY | O_CLOEXEC);
}

/* By a system call even in the own process: it is no access that hits. This one waits
 * for nobody who would have to bring the page (userfaultfd(2)). */
static bool read_there(const struct truehit_filter *filter, uint64_t *ret)
{
	const struct hw_region *region = &filter->event.region;

	*ret = 0;
	return pread(filter->memory_fd, ret, region->len, (off_t)region->addr) ==
	       (ssize_t)region->len;
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
	if (is_new && is_data && read_there(filter, &first))
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
