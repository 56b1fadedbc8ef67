/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Filters: a condition as native code (arch/native.h), which a pad begins with. Where
 * it is false, the thread goes on without a trap; where it is not, or nothing can be
 * said, the trap decides as it would without a filter.
 */
#ifndef TRUEHIT_PADS_FILTER_H
#define TRUEHIT_PADS_FILTER_H

#include "arch/arch.h"
#include "arch/native.h"
#include "gdbstub/agent/list.h"
#include "gdbstub/base/error.h"

/** What the code refers to: see struct native_code. */
struct filter_place {
	uint64_t pc, shared, counter;
	bool has_sequence; /* 8 bytes so far from the thread pointer are not zeros */
	int32_t sequence;  /* ... in a restartable sequence: the trap decides */
	bool needs_server; /* nobody is to meet the trap when the server has ended */
};

/**
 * Makes the code, which the caller frees; the pad's trap, of @trap_len bytes, follows
 * it. The error says why there is none, for people. No conditions: code that leads to
 * the trap as long as the server lives, if that is needed.
 */
struct error *filter_create(const struct arch_ops *arch,
			    const struct agent_list *conditions,
			    const struct filter_place *place, unsigned int trap_len,
			    struct native_code **ret);

#endif
