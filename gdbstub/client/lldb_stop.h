/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What lldb is told of a stop: the reason in its own words, which threads there are,
 * and why each of them has stopped. It asks for that by packets of its own, and gdb is
 * never told of it.
 *
 * Source of the facts: lldb's docs/resources/lldbgdbremote.md, Stop reply packet
 * extensions, jThreadsInfo, QListThreadsInStopReply.
 */
#ifndef TRUEHIT_CLIENT_LLDB_STOP_H
#define TRUEHIT_CLIENT_LLDB_STOP_H

#include "gdbstub/base/buffer.h"
#include "gdbstub/control/stop.h"

struct client;
struct thread;

/** The reason ("breakpoint"), or NULL: none of its own. */
const char *lldb_stop_reason(const struct stop *stop);
/** Why this thread has stopped, as the client was told. */
struct stop lldb_stop_of(const struct thread *thread);

/** Appends "KEY:VALUE;" for each fact that a stop reply of this thread has besides
 * those that gdb knows. */
void lldb_stop_append(struct client *client, const struct thread *thread,
		      const struct stop *stop, struct buffer *out);
/** Appends an array of JSON with all threads that are shown. */
void lldb_stop_append_threads(struct client *client, struct buffer *out);

#endif
