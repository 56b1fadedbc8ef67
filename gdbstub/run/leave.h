/* SPDX-License-Identifier: BSD-2-Clause */
/* Letting go of inferiors, all of whose threads are held. */
#ifndef TRUEHIT_RUN_LEAVE_H
#define TRUEHIT_RUN_LEAVE_H

#include "gdbstub/run/run.h"

/** Takes breakpoints out, detaches, destroys; children that the client has not heard
 * of, too. @signal is for the thread @signal_tid; 0: none. */
void leave_inferior(struct run *run, struct inferior *inferior, pid_t signal_tid,
		    int signal);
/** Kills instead. */
void leave_by_kill(struct run *run, struct inferior *inferior);

#endif
