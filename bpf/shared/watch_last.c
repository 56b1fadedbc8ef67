/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/shared/watch_last.h"

#include <sched.h>
#include <string.h>

static void lock(struct watch_last *last)
{
	while (__atomic_exchange_n(&last->lock, 1, __ATOMIC_SEQ_CST) != 0)
		sched_yield();
}

static void unlock(struct watch_last *last)
{
	__atomic_store_n(&last->lock, 0, __ATOMIC_SEQ_CST);
}

void watch_last_doubt(struct watch_last *last)
{
	__atomic_store_n(&last->unsure, 1, __ATOMIC_SEQ_CST);
}

bool watch_last_equals(struct watch_last *last, const uint8_t *bytes)
{
	bool equal;

	lock(last);
	equal = memcmp(last->bytes, bytes, sizeof(last->bytes)) == 0;
	unlock(last);
	return equal;
}

void watch_last_agree(struct watch_last *last, const uint8_t *bytes)
{
	lock(last);
	last->unsure = memcmp(last->bytes, bytes, sizeof(last->bytes)) != 0;
	unlock(last);
}

void watch_last_set(struct watch_last *last, const uint8_t *bytes, bool sure)
{
	lock(last);
	memcpy(last->bytes, bytes, sizeof(last->bytes));
	last->unsure = !sure;
	unlock(last);
}

void watch_last_take_back(struct watch_last *last, const struct watch_values *values)
{
	lock(last);
	if (values->len > 0 &&
	    memcmp(last->bytes, values->new, sizeof(last->bytes)) == 0)
		memcpy(last->bytes, values->old, sizeof(last->bytes));
	last->unsure = 1;
	unlock(last);
}

bool watch_last_exchange(struct watch_last *last, unsigned int len,
			 bool (*read)(void *data, uint8_t *bytes), void *data,
			 struct watch_values *ret)
{
	bool changed = true;

	*ret = (struct watch_values){0};
	lock(last);
	if (read(data, ret->new)) {
		memcpy(ret->old, last->bytes, sizeof(ret->old));
		memcpy(last->bytes, ret->new, sizeof(ret->new));
		changed = last->unsure ||
			  memcmp(ret->old, ret->new, sizeof(ret->old)) != 0;
		last->unsure = 0;
		ret->len = len;
	}
	unlock(last);
	return changed;
}
