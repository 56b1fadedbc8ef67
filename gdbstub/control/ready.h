/* SPDX-License-Identifier: BSD-2-Clause */
/* Which threads may go on: handlers of events note it here, and the loop lets them run
 * (proceed.h). */
#ifndef TRUEHIT_CONTROL_READY_H
#define TRUEHIT_CONTROL_READY_H

#include "gdbstub/control/run_state.h"

/** Nobody needs to hear of the event that the thread has stopped for. */
void ready_note(struct run *run, struct thread *thread);
/** The same, but it is resumed in this way rather than by its action. */
void ready_note_how(struct run *run, struct thread *thread, enum resume_how how);
/** All may run that others were in the way of. */
void ready_note_all(struct run *run);
/** Forgets all of that. */
void ready_clear(struct run *run);
/** Forgets it of one thread. */
void ready_forget(struct run *run, struct thread_control *control);

#endif
