/* SPDX-License-Identifier: BSD-2-Clause */
/* Which of the pending stops is told next. */
#ifndef TRUEHIT_STOPS_NEXT_STOP_H
#define TRUEHIT_STOPS_NEXT_STOP_H

#include "gdbstub/control/run_state.h"

/** Is there a stop of a thread that the client resumed, or of a process? */
bool next_stop_any(const struct run *run);
/** Takes the pending stop of this thread. */
void next_stop_take_of(struct run *run, struct thread *thread, struct stop *stop);
/** Takes the one that is next. False: there is none. A process that has ended is
 * destroyed. */
bool next_stop_take(struct run *run, struct stop *stop);

#endif
