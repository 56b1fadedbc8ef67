/* SPDX-License-Identifier: BSD-2-Clause */
/* Stopping every thread. */
#ifndef TRUEHIT_RUN_HALT_H
#define TRUEHIT_RUN_HALT_H

#include "gdbstub/run/run.h"

/** Stops every thread, or makes it late (gdbstub/inferior/late.h): within a second or
 * so. What they have to tell becomes pending. The threads stay resumed: proceed_all()
 * lets them go on. What waits for that is done. */
void halt_all(struct run *run);
/** Only stops them. */
void halt_threads(struct run *run);
/** All are held: vfork children that are waiting for it get the memory (fork.h), and
 * their parents go on; traps that were away go back; locations that must move do so
 * (run->locations_move). */
void halt_settle(struct run *run);
/** Is there any of that to do which is not done while threads run? */
bool halt_has_work(const struct run *run);
/** Is there a thread that will still tell something, as it runs, or will run when the
 * memory that its process has lent is free? */
bool halt_any_will_tell(const struct run *run);

#endif
