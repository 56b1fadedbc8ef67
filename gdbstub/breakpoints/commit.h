/* SPDX-License-Identifier: BSD-2-Clause */
/* Making what is in place equal to what is wanted. */
#ifndef TRUEHIT_BREAKPOINTS_COMMIT_H
#define TRUEHIT_BREAKPOINTS_COMMIT_H

#include "gdbstub/breakpoints/breakpoints.h"

/** Can it be served as it is no longer? */
bool location_is_outdated(const struct location *location);
/** Is there such a location? */
bool locations_are_outdated(const struct breakpoints *breakpoints);
/** These are put in anew at once. No thread may be running: a hit whose stop
 * has not been seen would be lost, and its thread would stay after the instruction. */
void locations_move_outdated(struct breakpoints *breakpoints);

/**
 * Makes what is in place equal to what is wanted. @stepping: only single steps
 * follow, so unwanted locations are merely switched off.
 */
struct error *breakpoints_commit(struct breakpoints *breakpoints, bool stepping);
/** For this location alone, which is wanted, and only if it was switched off: the
 * client has time at a stop, and none when the program goes on. Not while others may
 * run: they would have to be halted. */
struct error *location_switch_on(struct breakpoints *breakpoints,
				 struct location *location);
/** Would breakpoints_commit have anything to do? */
bool breakpoints_need_commit(const struct breakpoints *breakpoints);

#endif
