/* SPDX-License-Identifier: BSD-2-Clause */
/* The program's one context, and its event loop. */
#ifndef TRUEHIT_SERVER_H
#define TRUEHIT_SERVER_H

#include "gdbstub/tracing/startup.h"
#include "gdbstub/options.h"
#include "gdbstub/client/client.h"
#include "gdbstub/monitor/access_log.h"
#include "gdbstub/rsp/listener.h"
#include "gdbstub/run/run.h"

struct server {
	struct options options;
	pid_t guard; /* 0: none */
	struct run run;
	struct startup startup;
	struct listener listener;
	struct client client;
	int signal_fd;
	bool quiet;		       /* poll(2) has just told of no signal */
	unsigned int at_once;	       /* requests that may be served without it */
	unsigned int misses;	       /* how often none had come, in a row */
	unsigned int skips;	       /* turns in which none is looked for */
	bool printing;		       /* commands have just printed */
	enum access_log_turn counting; /* ... what was found of accesses */
	bool leaving;		       /* all is told: end when the client has it */
	bool ending;		       /* leave the event loop */
};

/** Starts or attaches as the options say, serves clients until it is time to
 * end. Returns the process's exit status. */
int server_main(struct server *server);

#endif
