/* SPDX-License-Identifier: BSD-2-Clause */
/* How one thread is resumed. Only the loop does it (proceed.h). */
#ifndef TRUEHIT_RUN_RESUMING_H
#define TRUEHIT_RUN_RESUMING_H

#include "gdbstub/run/run.h"

/** Resumes a held thread as its action, or the step over what it has hit, asks for. A
 * failure is logged: the thread is gone or stays held. */
void resuming_thread(const struct run *run, struct thread *thread);
/** The kernel forgets an interrupt when a thread stops for something else: if it was
 * for the client's request, the resumed thread is asked again. */
void resuming_ask_again(const struct run *run, struct thread *thread);

#endif
