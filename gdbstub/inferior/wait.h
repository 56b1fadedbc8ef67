/* SPDX-License-Identifier: BSD-2-Clause */
/* Waiting for threads: the next event, and statuses that came too early. */
#ifndef TRUEHIT_INFERIOR_WAIT_H
#define TRUEHIT_INFERIOR_WAIT_H

#include <stdbool.h>
#include <sys/types.h>

#include "inferior/inferior.h"

/**
 * The next event of any traced thread. @block: wait for one; false: return
 * EVENT_NONE if there is none. Handles by itself: threads that start (added to
 * the list), group-stop bookkeeping, a leader that exits before other threads.
 * A blocking call returns EVENT_NONE only if no traced thread is left to wait for.
 * After EVENT_EXITED or EVENT_KILLED the inferior is still in the list; the
 * caller destroys it.
 */
void inferiors_wait(struct inferiors *inferiors, bool block, struct event *event);
/**
 * A wait asks about all traced threads, which takes long if they are many. Whoever has
 * SIGCHLD blocked spares the waits that would find nothing (told_by_sigchld); and
 * whoever takes a SIGCHLD from the queue has to tell by this.
 */
void inferiors_changed(struct inferiors *inferiors);

/* ---- for the files of inferior/ ---- */

/** A wait status that was taken from the kernel before anyone could use it. */
struct early_stop {
	struct early_stop *next;
	pid_t tid;
	pid_t creator; /* the process whose thread made @tid, if known, or 0 */
	int status;
};

/** waitpid for one thread that is about to stop or to end. 0 or a negative errno:
 * ECHILD: there is no such traced thread; ETIMEDOUT: it does neither (late.h). */
int wait_status(pid_t tid, int *status);
/** The thread, which was interrupted, is among those that the next wait asks for first.
 */
void wait_expect(struct thread *thread);
/** Keeps a status for a later wait. */
void wait_keep(struct inferiors *inferiors, pid_t tid, int status);
/** Takes the status that was kept for this thread. False: there is none. */
bool wait_take_kept(struct inferiors *inferiors, pid_t tid, int *status);
/**
 * Forgets what was kept about an inferior that is gone or let go. Processes that
 * it forked and whose EVENT_FORK never came are let go.
 */
void wait_forget(struct inferior *inferior);

#endif
