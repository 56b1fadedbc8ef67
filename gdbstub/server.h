/* SPDX-License-Identifier: BSD-2-Clause */
/* The program's one context, and its event loop. */
#ifndef TRUEHIT_SERVER_H
#define TRUEHIT_SERVER_H

#include "options.h"
#include "rsp/console.h"
#include "rsp/listener.h"
#include "rsp/session.h"
#include "startup.h"
#include "stops/run.h"

struct connection;

struct server {
	struct options options;
	pid_t guard; /* 0: none */
	struct run run;
	struct session session;
	struct listener listener;
	struct connection *connection; /* the client's; NULL: nobody is there */
	struct console console;
	struct stop untold; /* the client waits for it, and for text before it */
	int signal_fd;
	bool quiet;    /* poll(2) has just told of no signal */
	bool printing; /* commands have just printed */
	bool leaving;  /* all is told: end when the client has it */
	bool ending;   /* leave the event loop */

	struct startup startup; /* how vRun and R start programs */
};

/** Starts or attaches as the options say, serves clients until it is time to
 * end. Returns the process's exit status. */
int server_main(struct server *server);

/** The user wants a stop, soon. */
void server_interrupt(struct server *server);

/**
 * Takes the next stop to tell the client (run_poll), and says so if the last process
 * has ended. False: there is none.
 */
bool server_take_stop(struct server *server, struct stop *stop);

/** The thread that Hg chose, or a sensible default; NULL: no process. */
struct thread *server_thread(struct server *server);
/** The inferior of that thread; NULL: no process. */
struct inferior *server_inferior(struct server *server);

#endif
