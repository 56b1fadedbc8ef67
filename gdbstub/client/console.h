/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client's console: what commands of breakpoints print (gdb's agent-style dprintf),
 * and what monitor commands answer, in O packets.
 *
 * These are legal while the client waits for a stop reply or for the reply to qRcmd,
 * and never in non-stop mode (manual, Stop Reply Packets); gdb would take one for the
 * reply to whatever it has asked. So text is kept until the program runs, and a stop is
 * told after the text that was printed before it. In non-stop mode, without a client,
 * and of programs that their client has left, it goes to the server's own output, where
 * gdbserver writes all of it.
 *
 * A client that reads slowly finds CONSOLE_LIMIT bytes kept for it, so that a burst
 * does not slow the program down. Beyond that the program waits. Ctrl-C does not:
 * CONSOLE_CUT bytes are shown before that stop; the rest follows when the program goes
 * on, of which a line in brackets tells. When the client leaves instead, what is kept
 * goes to the server's own output.
 */
#ifndef TRUEHIT_CLIENT_CONSOLE_H
#define TRUEHIT_CLIENT_CONSOLE_H

#include "gdbstub/base/buffer.h"
#include "gdbstub/locations/output.h"

struct client;

enum {
	CONSOLE_LIMIT = 16 << 20,
	CONSOLE_CUT = 64 << 10,
};

struct console {
	struct buffer text; /* printed; bytes before .shown have been sent */
	size_t shown;
	bool hurried; /* the user waits for a stop */
};

/** The sink for what commands print while a client may be there. */
struct output console_output(struct client *client);
/** Will it be long until more text can be taken? Then nobody should print. */
bool console_is_full(const struct client *client);
/** Sends as much as the client takes now, if it is legal. */
void console_send(struct client *client);
/** The same before a stop reply. False: there is still text that comes before it. */
bool console_settle(struct client *client);
/** The user has pressed Ctrl-C: the next stop is told soon. */
void console_hurry(struct client *client);
/** The client has gone. */
void console_close(struct client *client);

/** Shows text now, which the caller knows to be legal. */
void console_show(struct client *client, const char *text, size_t len);

#endif
