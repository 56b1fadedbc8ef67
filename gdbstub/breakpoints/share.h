/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Write watchpoints that share slots. Where slots do not suffice, those that are
 * close to each other are watched as one region, by a location that the client does not
 * know, their carrier. At each of its hits the stub looks whose value has changed
 * (watch.h), and the hit is theirs: so only those with a value filter can share, and
 * each write there stops the thread for a moment. When slots become free they part.
 */
#ifndef TRUEHIT_BREAKPOINTS_SHARE_H
#define TRUEHIT_BREAKPOINTS_SHARE_H

#include "gdbstub/breakpoints/breakpoints.h"

/**
 * Lets two locations share, so that at least one slot less is needed; one of them may
 * be @newcomer, which is out and is in then. False: no two can.
 */
bool share_two(struct breakpoints *breakpoints, struct location *newcomer);
/** Takes all that share out, so that the commit puts them in as there is room now. */
void share_part(struct breakpoints *breakpoints);

#endif
