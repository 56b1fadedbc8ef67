/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traps that were taken out: the program may have copied its text while they were in,
 * and move the copy over their place later. No location knows of such a trap, as it was
 * deleted, or is served by the processor by now.
 */
#ifndef TRUEHIT_TEXT_OLD_TRAPS_H
#define TRUEHIT_TEXT_OLD_TRAPS_H

#include "gdbstub/locations/location.h"

/** A trap is taken out. Of very many, or without memory, the oldest are forgotten. */
void old_traps_add(struct breakpoints *breakpoints, uint64_t addr,
		   const struct trap *trap);
/** The client writes there: a breakpoint instruction is its own from now on. */
void old_traps_forget(struct breakpoints *breakpoints, uint64_t addr, size_t len);
void old_traps_clear(struct breakpoints *breakpoints);

/** Is a copy of such a trap there that faults (TRAP_DISTINCT)? */
bool old_traps_find_distinct(struct inferior *inferior, uint64_t pc);

/**
 * If a copy of such a trap is what the thread has just executed: it is taken out, and
 * the thread put back, to execute the program's own instruction. A breakpoint in
 * hardware that it has hit there already does not stop it again. False: it is none.
 * In a file's mapping there are none: what is there, the program has written itself.
 */
bool old_traps_undo(const struct event *event);

#endif
