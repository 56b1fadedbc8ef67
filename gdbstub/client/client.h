/* SPDX-License-Identifier: BSD-2-Clause */
/* The client that is connected, or may be: what handlers of packets work on. */
#ifndef TRUEHIT_CLIENT_CLIENT_H
#define TRUEHIT_CLIENT_CLIENT_H

#include <stdbool.h>
#include <sys/types.h>

#include "gdbstub/tracing/startup.h"
#include "gdbstub/client/console.h"
#include "gdbstub/client/session.h"
#include "gdbstub/run/run.h"

struct access_log;
struct program_terminal;
struct connection;

struct client {
	struct run *run;	 /* the inferiors; outlives the client, as does: */
	struct startup *startup; /* how vRun and R start programs */
	pid_t guard;		 /* not to be attached to; 0: none */
	bool multi;		 /* the server goes on without a process */
	bool over_stdio; /* programs have no terminal, as it is the connection */

	struct session session;
	struct connection *connection; /* NULL: nobody is there */
	struct console console;
	struct program_terminal *terminal; /* NULL: none */
	struct access_log
		*accesses;  /* that it has counted (monitor accesses), or NULL */
	struct stop untold; /* the client waits for it, and for text before it */
};

/** What is counted of accesses is of no use any more. */
void client_end_accesses(struct client *client);
/** The same if their program has ended; @tell: the client sees what there is. */
void client_check_accesses(struct client *client, bool tell);
/** The user wants a stop, soon. */
void client_interrupt(struct client *client);

bool client_has_process(const struct client *client);
/** Does the server go on without a process? */
bool client_stays(const struct client *client);
/** Has the last process ended, and the server's work with it? */
bool client_is_last_end(const struct client *client, const struct stop *stop);

/**
 * Takes the next stop to tell the client (run_poll), and says so if the last process
 * has ended. False: there is none.
 */
bool client_take_stop(struct client *client, struct stop *stop);

#endif
