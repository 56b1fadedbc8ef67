/* SPDX-License-Identifier: BSD-2-Clause */
/* The monitor commands for which threads run or pause, rows of the table in
 * monitor_packet.c, and what such commands are. */
#ifndef TRUEHIT_PACKETS_MONITOR_STEPS_H
#define TRUEHIT_PACKETS_MONITOR_STEPS_H

#include "gdbstub/base/buffer.h"
#include "gdbstub/base/error.h"

struct client;

/**
 * Appends what the user is to see to @out. @args is the rest of the line without
 * blanks around it; "" only if the command takes none, or need not.
 */
typedef struct error *monitor_handler(struct client *client, const char *args,
				      struct buffer *out);

/* monitor_accesses.c */
monitor_handler monitor_accesses;
/* monitor_steps.c */
monitor_handler monitor_counters, monitor_set_skid, monitor_stepi, monitor_until_count,
	monitor_until_state;

#endif
