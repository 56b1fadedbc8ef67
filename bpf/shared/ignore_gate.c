/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/shared/ignore_gate.h"

/* Hits that come meanwhile are ignored. */
static void set(struct gate *gate, bool single, int64_t count)
{
	__atomic_store_n(&gate->left, GATE_ENDLESS, __ATOMIC_SEQ_CST);
	__atomic_store_n(&gate->single, single, __ATOMIC_SEQ_CST);
	__atomic_store_n(&gate->left, count, __ATOMIC_SEQ_CST);
}

void gate_set(struct gate *gate, int64_t count)
{
	set(gate, false, count);
}

void gate_set_single(struct gate *gate, int64_t count)
{
	set(gate, true, count);
}

void gate_copy(struct gate *to, const struct gate *from)
{
	set(to, from->single, gate_left(from));
}

bool gate_is_spent(const struct gate *gate)
{
	return gate->single && __atomic_load_n(&gate->left, __ATOMIC_SEQ_CST) < 0;
}

int64_t gate_left(const struct gate *gate)
{
	int64_t left = __atomic_load_n(&gate->left, __ATOMIC_SEQ_CST);

	if (left > GATE_MAX || (left < 0 && gate->single))
		return GATE_ENDLESS;
	return left > 0 ? left : 0;
}

bool gate_ignores(struct gate *gate)
{
	const int64_t left = __atomic_fetch_sub(&gate->left, 1, __ATOMIC_SEQ_CST);

	if (left == 0 || (left < 0 && !gate->single))
		return false;
	__atomic_fetch_add(&gate->ignored, 1, __ATOMIC_SEQ_CST);
	return true;
}

void gate_reset(struct gate *gate)
{
	__atomic_store_n(&gate->ignored, 0, __ATOMIC_SEQ_CST);
}
