/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stops in non-stop mode: the first one is a notification that comes at any time, the
 * others follow one by one as the client asks for them (vStopped). Those that wait do
 * so in gdbstub/stops/: what is detached or killed meanwhile takes its stops along.
 *
 * Source of the facts: "Debugging with GDB", Remote Protocol, Notification Packets.
 */
#ifndef TRUEHIT_CLIENT_NOTIFY_H
#define TRUEHIT_CLIENT_NOTIFY_H

#include "gdbstub/base/buffer.h"
#include "gdbstub/run/run.h"

struct client;

/** Sends "%Stop:...". */
void notify_stop(struct client *client, const struct stop *stop);
/** Appends the next stop to tell, or OK if there is none. */
void notify_next(struct client *client, struct buffer *reply);
/** The reply to `?`: the stop of one thread, or OK if all run. Other stopped threads
 * tell when they are asked to stop. */
struct error *notify_first(struct client *client, struct buffer *reply);

#endif
