/* SPDX-License-Identifier: BSD-2-Clause */
/* What `monitor breakpoints` shows: a table of locations, what it does not tell, and
 * the threads that hit them. */
#ifndef TRUEHIT_MONITOR_BREAKPOINT_TABLE_H
#define TRUEHIT_MONITOR_BREAKPOINT_TABLE_H

#include "gdbstub/base/buffer.h"
#include "gdbstub/inferior/inferior.h"

/** Appends that of all processes; @all: gdb's own breakpoints, too. */
void breakpoints_print(struct inferiors *inferiors, bool all, struct buffer *out);

#endif
