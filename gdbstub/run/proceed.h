/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the loop does after it has taken an event. Handlers of events have only noted:
 * who may go on (ready.h), whose traps are to go back (alone.h), what is to be done
 * while all are held (halt.h), and stops (pending.h).
 */
#ifndef TRUEHIT_RUN_PROCEED_H
#define TRUEHIT_RUN_PROCEED_H

#include "gdbstub/run/run.h"

/** Does what has been noted, and lets those run that may go on; if one of them has to
 * step over a trap, it runs alone. In all-stop mode nobody goes on while there is a
 * stop to report. */
void proceed(struct run *run);
/** The same, and all that are resumed may go on. */
void proceed_all(struct run *run);

#endif
