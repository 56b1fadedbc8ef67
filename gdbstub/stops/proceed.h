/* SPDX-License-Identifier: BSD-2-Clause */
/* Letting threads run, stepping over traps. */
#ifndef TRUEHIT_STOPS_PROCEED_H
#define TRUEHIT_STOPS_PROCEED_H

#include "stops/run.h"

/** Lets every resumed thread run that may. */
void proceed_all(struct run *run);
/**
 * Lets one thread go on after an event that nobody needs to hear of. It may be gone
 * afterwards: others are halted before a trap is stepped over.
 */
void proceed_thread(struct run *run, struct thread *thread);
/** Leaves a thread in its group stop, where only SIGCONT wakes it. */
void proceed_listening(struct thread *thread);
/** Lets a thread run although its process has to wait for it (vfork). */
void proceed_alone(struct run *run, struct thread *thread);
/** The thread that stepped over traps has left the place, or is gone: they go back. */
void proceed_together(struct run *run, struct inferior *inferior);
/** Traps that were away for a while go back into the inferior's memory. */
void proceed_with_traps(struct run *run, struct inferior *inferior);

#endif
