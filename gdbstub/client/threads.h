/* SPDX-License-Identifier: BSD-2-Clause */
/* Thread ids of packets <-> threads. */
#ifndef TRUEHIT_CLIENT_THREADS_H
#define TRUEHIT_CLIENT_THREADS_H

#include <stdbool.h>

#include "gdbstub/base/buffer.h"
#include "gdbstub/inferior/inferior.h"
#include "gdbstub/rsp/parse.h"

struct client;

/** Is this thread one that the id means? 0 and -1 mean every one. */
bool thread_id_matches(const struct thread_id *id, const struct thread *thread);
/**
 * Does the thread exist for the client? Not if it is a leader that has ended while
 * other threads live on: it has no registers and will not run again. Nor if it is of
 * a forked process of which the client has not heard yet.
 */
bool thread_is_shown(const struct thread *thread);
/** The first shown thread that the id means, or NULL. */
struct thread *threads_find(struct client *client, const struct thread_id *id);
/** Appends "pPID.TID", or "TID" for a client without multiprocess+. */
static inline void threads_append_id(struct buffer *out, bool multiprocess, pid_t pid,
				     pid_t tid)
{
	if (multiprocess)
		buffer_printf(out, "p%x.", (unsigned int)pid);
	buffer_printf(out, "%x", (unsigned int)tid);
}

/** The inferior with this pid; an error if there is none. */
struct error *threads_inferior(struct client *client, uint64_t pid,
			       struct inferior **ret);
#endif
