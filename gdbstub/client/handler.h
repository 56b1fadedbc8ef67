/* SPDX-License-Identifier: BSD-2-Clause */
/* What handles a packet: a function of this kind. The table is
 * gdbstub/packets/packet.h. */
#ifndef TRUEHIT_CLIENT_HANDLER_H
#define TRUEHIT_CLIENT_HANDLER_H

#include "gdbstub/base/buffer.h"
#include "gdbstub/base/error.h"
#include "gdbstub/rsp/parse.h"

struct client;

/**
 * Handles one packet. @args is what follows the packet's name (and its
 * separator). The handler appends the reply to @reply and returns NULL; an empty
 * reply means "not supported". A returned error is sent as "E.text" and @reply
 * is dropped. A handler that resumes threads sets client->session.resumed:
 * then nothing is sent now, and the stop reply follows when there is a stop. One
 * whose packet has no reply at all (k, R) sets session.silent.
 */
typedef struct error *packet_handler(struct client *client, struct cursor *args,
				     struct buffer *reply);

#endif
