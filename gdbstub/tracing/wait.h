/* SPDX-License-Identifier: BSD-2-Clause */
/* Waiting for threads: the next event, and statuses that came too early. */
#ifndef TRUEHIT_TRACING_WAIT_H
#define TRUEHIT_TRACING_WAIT_H

#include <stdbool.h>
#include <sys/types.h>

#include "gdbstub/inferior/inferior.h"

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

#endif
