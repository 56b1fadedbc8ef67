/* SPDX-License-Identifier: BSD-2-Clause */
/* What the server remembers about the client that is connected. */
#ifndef TRUEHIT_CLIENT_SESSION_H
#define TRUEHIT_CLIENT_SESSION_H

#include <stdbool.h>
#include <sys/types.h>

#include "gdbstub/base/buffer.h"
#include "gdbstub/inferior/late.h"
#include "gdbstub/rsp/parse.h"

struct session {
	bool no_ack;	  /* QStartNoAckMode */
	bool extended;	  /* `!` or target extended-remote */
	bool resumed;	  /* threads run; a stop reply is owed */
	bool silent;	  /* the packet at hand has no reply */
	bool at_rest;	  /* all packets of late have been of PACKET_AT_REST */
	bool ending;	  /* close the connection after this reply */
	bool exit_server; /* `monitor exit`: and end the server */

	/* Features the client named in qSupported. */
	bool multiprocess, swbreak, hwbreak, exec_events, fork_events, vfork_events,
		no_resumed;
	bool error_message;    /* any error may be a text */
	bool thread_options;   /* it knows QThreadOptions, as gdb does from 15 on */
	bool reads_target_xml; /* it reads target descriptions, or has read ours */
	bool single_argument;  /* vRun brings all arguments in one string */
	bool several_watches;  /* a stop may name several watchpoints */

	/* What lldb has asked for, by packets of its own. */
	bool lldb;	    /* any of these: it is lldb, or knows its forms */
	bool thread_suffix; /* packets may end with ";thread:ID;" */
	bool error_strings; /* "Exx;TEXT", the text in hex */

	char *stdio[3]; /* files of the next program's standard streams, or NULL */
	char *launch_failure; /* why A has started nothing; NULL: it has not failed */

	unsigned int disabled; /* packets to do without: gdbstub/rsp/disable.h */

	int stats_interval; /* ms between tables (live_stats.h); 0: there are none */
	struct lateness stats_lateness; /* ... since the last one */

	uint64_t more_steps;	   /* of the next single step (monitor stepi) */
	uint64_t unused_steps;	   /* ... when something else came instead */
	struct thread_id general;  /* Hg */
	struct thread_id resuming; /* Hc */
	struct vfile *vfile;	   /* of vfile.c; NULL until used */
	struct xfer *xfer;	   /* of xfer.c; NULL until used */
	struct saved_registers *saved_registers; /* of saved_registers.h; NULL: none */
};

#endif
