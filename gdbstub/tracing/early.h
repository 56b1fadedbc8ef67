/* SPDX-License-Identifier: BSD-2-Clause */
/* Wait statuses that come before anyone can use them. */
#ifndef TRUEHIT_TRACING_EARLY_H
#define TRUEHIT_TRACING_EARLY_H

#include <stdbool.h>
#include <sys/types.h>

#include "gdbstub/inferior/inferior.h"

/** A wait status that was taken from the kernel before anyone could use it. */
struct early_stop {
	struct early_stop *next;
	pid_t tid;
	pid_t creator; /* the process whose thread made @tid, if known, or 0 */
	int status;
};

/** Keeps a status for a later wait. */
void early_keep(struct inferiors *inferiors, pid_t tid, int status);
/** Takes the status that was kept for this thread. False: there is none. */
bool early_take(struct inferiors *inferiors, pid_t tid, int *status);
/** Takes one that was kept for any thread that is known by now: the tid, or 0. */
pid_t early_take_any(struct inferiors *inferiors, int *status);
/**
 * Forgets what was kept about an inferior that is gone or let go. Processes that
 * it forked and whose EVENT_FORK never came are let go.
 */
void early_forget(struct inferior *inferior);

#endif
