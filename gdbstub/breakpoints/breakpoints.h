/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the client asked for (Z packets) and what is in place. A new location
 * is put in place at once, so that the client learns of errors; a removed one
 * stays until the next commit, since gdb removes and re-inserts everything at
 * each stop: that must cost no system call.
 */
#ifndef TRUEHIT_BREAKPOINTS_BREAKPOINTS_H
#define TRUEHIT_BREAKPOINTS_BREAKPOINTS_H

#include "gdbstub/locations/location.h"

/** NULL: out of memory. Sets inferior->breakpoints. */
struct breakpoints *breakpoints_create(struct inferior *inferior,
				       struct engines *engines);
/** Takes everything out of the inferior. @gone as in engine_ops.remove. */
void breakpoints_destroy(struct breakpoints *breakpoints, bool gone);

/**
 * Z: inserts, or replaces conditions and commands of an equal location
 * (idempotent). Takes references on them; NULL: none. In memory that inferiors share, a
 * software breakpoint is one for all of them. Errors say which slots are taken by what.
 */
struct error *breakpoints_insert(struct breakpoints *breakpoints,
				 enum breakpoint_type type, uint64_t addr,
				 unsigned int len, const struct agent_list *conditions,
				 const struct commands *commands);
/**
 * Hands conditions over for such a location, be it there already or not, in which
 * its own, if it comes with any, go before; an empty list withdraws them. They are
 * forgotten with the client and by an exec.
 */
struct error *breakpoints_hand(struct breakpoints *breakpoints,
			       enum breakpoint_type type, uint64_t addr,
			       unsigned int len, const struct agent_list *conditions);
/** Where engines->handed_hold has changed: puts conditions that were handed over for
 * breakpoints into those that have none of their own, or takes them away again. Counts
 * go on. */
struct error *breakpoints_apply_handed(struct breakpoints *breakpoints);
/** Withdraws all of them. */
struct error *breakpoints_unhand_all(struct breakpoints *breakpoints);
/** What else must hold at its hits, from now on; takes over @state, NULL: nothing. It
 * is out if it cannot be put in again. */
struct error *breakpoints_want_state(struct breakpoints *breakpoints,
				     struct location *location,
				     struct wanted_state *state);
/** z: no longer wanted, by inferiors that share the memory either; no error if it never
 * was. */
void breakpoints_remove(struct breakpoints *breakpoints, enum breakpoint_type type,
			uint64_t addr, unsigned int len);
/** The location, if the client wants to know of hits there, or NULL. */
struct location *breakpoints_wanted(const struct breakpoints *breakpoints,
				    enum breakpoint_type type, uint64_t addr);
/** Nothing is wanted any longer (the client has gone) but what is persistent. */
void breakpoints_remove_all(struct breakpoints *breakpoints);
/** Are there commands to go on with when the client has gone? */
bool breakpoints_persist(const struct breakpoints *breakpoints);

/** The program was replaced (exec): everything in place is gone, nothing wanted. */
void breakpoints_forget(struct breakpoints *breakpoints);
/** A new, stopped thread of the inferior. */
void breakpoints_thread_added(struct breakpoints *breakpoints, struct thread *thread);
/** What is wanted in the parent is wanted in a forked child, from the next commit. */
void breakpoints_inherit(struct breakpoints *child, const struct breakpoints *parent);

/** Sets all counts to zero (`monitor reset`). */
void breakpoints_reset_counts(struct breakpoints *breakpoints);

#endif
