/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What registers must be at a hit of a breakpoint, beside what the client's conditions
 * say (`monitor until-state`): a term before each of the conditions, so that engines
 * decide it as these. It is the location's for as long as the client keeps that.
 */
#ifndef TRUEHIT_LOCATIONS_WANTED_STATE_H
#define TRUEHIT_LOCATIONS_WANTED_STATE_H

#include "gdbstub/agent/list.h"
#include "gdbstub/base/error.h"

struct arch_ops;
struct wanted_state;

/** Of "rdi=5 rsi=0x1f r8=-1", registers of at most 64 bits. The caller frees it. */
struct error *wanted_state_create(const struct arch_ops *arch, const char *text,
				  struct wanted_state **ret);
/** NULL: out of memory, or @state is. */
struct wanted_state *wanted_state_copy(const struct wanted_state *state);
/** NULL is legal. */
void wanted_state_destroy(struct wanted_state *state);
/**
 * The conditions, one of which has to hold (none: always), each only where the state
 * is as wanted; NULL: any is. 0, -ENOMEM, -E2BIG: a condition is too
 * long, or -EOPNOTSUPP: it ends in several places, as none of gdb's does.
 */
int wanted_state_join(const struct wanted_state *state,
		      const struct agent_list *conditions, struct agent_list *ret);

#endif
