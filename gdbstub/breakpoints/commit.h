/* SPDX-License-Identifier: BSD-2-Clause */
/* Making what is in place equal to what is wanted. */
#ifndef TRUEHIT_BREAKPOINTS_COMMIT_H
#define TRUEHIT_BREAKPOINTS_COMMIT_H

#include "gdbstub/breakpoints/breakpoints.h"

/** Is there a location that cannot be served as it is any longer? */
bool locations_are_outdated(const struct breakpoints *breakpoints);
/** Such locations are put in anew at once. No thread may be running: a hit whose stop
 * has not been seen would be lost, and its thread would stay after the instruction. */
void locations_move_outdated(struct breakpoints *breakpoints);

/**
 * Makes what is in place equal to what is wanted. @stepping: only single steps
 * follow, so unwanted locations are merely switched off.
 */
struct error *breakpoints_commit(struct breakpoints *breakpoints, bool stepping);
/** Would breakpoints_commit have anything to do? */
bool breakpoints_need_commit(const struct breakpoints *breakpoints);

#endif
