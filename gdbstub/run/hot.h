/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hot locations, for `monitor set pads auto`: those whose false hits have cost more
 * than a pad does. While the program runs, the counts are looked at by and by, and a
 * hot location moves into a pad.
 */
#ifndef TRUEHIT_RUN_HOT_H
#define TRUEHIT_RUN_HOT_H

#include "gdbstub/control/run_state.h"

/** Looks, if it is time. */
void hot_look(struct run *run);
/** How long hot_look need not be called, in ms; -1: for ever. */
int hot_patience(const struct run *run);

#endif
