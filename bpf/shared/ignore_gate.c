/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/shared/ignore_gate.h"

void gate_set(struct gate *gate, int64_t count)
{
	__atomic_store_n(&gate->left, count, __ATOMIC_SEQ_CST);
}

int64_t gate_left(const struct gate *gate)
{
	int64_t left = __atomic_load_n(&gate->left, __ATOMIC_SEQ_CST);

	if (left > GATE_MAX)
		return GATE_ENDLESS;
	return left > 0 ? left : 0;
}

bool gate_ignores(struct gate *gate)
{
	if (__atomic_fetch_sub(&gate->left, 1, __ATOMIC_SEQ_CST) <= 0)
		return false;
	__atomic_fetch_add(&gate->ignored, 1, __ATOMIC_SEQ_CST);
	return true;
}

void gate_reset(struct gate *gate)
{
	__atomic_store_n(&gate->ignored, 0, __ATOMIC_SEQ_CST);
}
