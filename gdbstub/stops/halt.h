/* SPDX-License-Identifier: BSD-2-Clause */
/* Stopping every thread. */
#ifndef TRUEHIT_STOPS_HALT_H
#define TRUEHIT_STOPS_HALT_H

#include "stops/run.h"

/** Stops every thread, or makes it late (inferior/late.h): within a second or so. What
 * they have to tell becomes pending. The threads stay resumed: proceed_all() lets them
 * go on. Locations that must move (run->locations_move) have moved. */
void halt_all(struct run *run);
/** The same for a step over a location, which stays until proceed_together(): locations
 * that must move do so only then. */
void halt_for_step(struct run *run);
/** Is there a running thread that will still tell something? */
bool halt_needed(const struct run *run);

#endif
