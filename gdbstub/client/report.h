/* SPDX-License-Identifier: BSD-2-Clause */
/* Tells a stop to the client: collects what the stop reply says of the thread. */
#ifndef TRUEHIT_CLIENT_REPORT_H
#define TRUEHIT_CLIENT_REPORT_H

#include "gdbstub/base/buffer.h"
#include "gdbstub/run/run.h"

struct client;
struct thread;

/** Appends the stop reply; in all-stop mode the thread becomes the one that packets
 * are about. */
void report_stop(struct client *client, const struct stop *stop, struct buffer *reply);
/** Appends a stop reply that tells why this thread has stopped, as lldb was told. */
void report_thread(struct client *client, const struct thread *thread,
		   struct buffer *reply);
/** Appends the reply to `?`: the last stop, or W00 if there is no process. */
void report_last_stop(struct client *client, struct buffer *reply);

#endif
