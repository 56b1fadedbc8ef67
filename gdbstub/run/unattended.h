/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that the client has left while commands are in place that are to go on
 * (disconnected-dprintf). They run as if they were not traced: no client sees them,
 * their signals are delivered, their end needs no report.
 */
#ifndef TRUEHIT_RUN_UNATTENDED_H
#define TRUEHIT_RUN_UNATTENDED_H

#include "gdbstub/run/run.h"

/** Lets them go on after what would have been stops, frees those that have ended. */
void unattended_go_on(struct run *run);

#endif
