/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conditions that came in packets of their own: gdb has none in its Z2 to Z4, nor in Z0
 * and Z1 those that it cannot translate, so its extension hands them over ahead of
 * these. Those of breakpoints hold only while the client does nothing but continue
 * (gdbstub/run/continuation.h).
 */
#ifndef TRUEHIT_LOCATIONS_HANDED_CONDITIONS_H
#define TRUEHIT_LOCATIONS_HANDED_CONDITIONS_H

#include "gdbstub/locations/engine.h"

enum { HANDED_MAX = 1024 }; /* in a list */

TAILQ_HEAD(handed_list, handed);

/**
 * From now on these are the conditions of such watchpoints or breakpoints; the latter
 * have no length. Takes references; an empty list withdraws them. 0, -ENOMEM, or
 * -ENOSPC: the list is full.
 */
int handed_set(struct handed_list *list, enum breakpoint_type type, uint64_t addr,
	       unsigned int len, const struct agent_list *conditions);
/** The conditions of such a location; an empty list: there are none. */
const struct agent_list *handed_find(const struct handed_list *list,
				     enum breakpoint_type type, uint64_t addr,
				     unsigned int len);
/** Appends a copy of what @from has for watchpoints: threads of another process, which
 * conditions of breakpoints may be about, are not those. 0 or -ENOMEM: some are
 * missing.
 */
int handed_copy(struct handed_list *list, const struct handed_list *from);
void handed_clear(struct handed_list *list);

#endif
