/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The text of a stop reply packet (T, W, X, N). Pure; report.h collects what goes
 * into it.
 *
 * Source of the facts: "Debugging with GDB", Remote Protocol, Stop Reply Packets.
 */
#ifndef TRUEHIT_CLIENT_STOP_REPLY_H
#define TRUEHIT_CLIENT_STOP_REPLY_H

#include <stdbool.h>

#include "gdbstub/base/buffer.h"
#include "gdbstub/client/session.h"
#include "gdbstub/run/run.h"

struct stop_reply {
	const struct stop *stop;
	unsigned int gdb_signal; /* of the stop, in gdb's numbers */
	int core;		 /* -1: not known */
	const char *program;	 /* STOP_EXEC: the path; NULL: not known */
	const char *registers;	 /* "NN:hex;" for each expedited register */
	const char *lldb; /* what lldb wants to hear besides (lldb_stop.h); or NULL
			   */
};

/** Appends the packet, with what the client named in qSupported. */
void stop_reply_print(const struct stop_reply *reply, const struct session *session,
		      struct buffer *out);

#endif
