/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/shared/match_value.h"

#include <sched.h>

/* Nobody but programs has it meanwhile, and these run to their ends. */
static void lock(struct match_value *value)
{
	while (__atomic_exchange_n(&value->lock, 1, __ATOMIC_SEQ_CST) != 0)
		sched_yield();
}

static void unlock(struct match_value *value)
{
	__atomic_store_n(&value->lock, 0, __ATOMIC_SEQ_CST);
}

static void aim(struct match_value *value, uint64_t addr, uint64_t len,
		enum match_sure unsure)
{
	lock(value);
	value->addr = addr;
	value->len = len;
	value->unsure = unsure;
	unlock(value);
}

void match_value_begin(struct match_value *value)
{
	aim(value, 0, MATCH_CHANGING, MATCH_UNSURE);
}

void match_value_aim(struct match_value *value, uint64_t addr, uint64_t len)
{
	aim(value, addr, len, MATCH_AIMED);
}

/* Programs that do not get the lock make it unsure without that. */
void match_value_first(struct match_value *value, uint64_t last)
{
	uint64_t aimed = MATCH_AIMED;

	lock(value);
	if (__atomic_load_n(&value->unsure, __ATOMIC_SEQ_CST) == aimed) {
		value->last = last;
		__atomic_compare_exchange_n(&value->unsure, &aimed, MATCH_SURE, 0,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	}
	unlock(value);
}
