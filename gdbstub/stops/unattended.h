/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that the client has left while commands are in place that are to go on
 * (disconnected-dprintf). They run as if they were not traced: no client sees them,
 * their signals are delivered, their end needs no report.
 */
#ifndef TRUEHIT_STOPS_UNATTENDED_H
#define TRUEHIT_STOPS_UNATTENDED_H

#include "stops/run.h"

bool unattended_any(const struct run *run);
/** Lets them go on after what would have been stops, frees those that have ended. */
void unattended_go_on(struct run *run);

/** Where what commands print in this inferior goes. */
const struct output *run_output(const struct run *run, const struct inferior *inferior);

/**
 * Lets an inferior go on with its persistent commands and without a client: it is
 * not shown to anybody until run_rejoin, which stops all of these.
 */
struct error *run_leave(struct run *run, struct inferior *inferior);
void run_rejoin(struct run *run);

#endif
