/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of `monitor breakpoints`. */
#ifndef TRUEHIT_MONITOR_BREAKPOINT_TABLE_H
#define TRUEHIT_MONITOR_BREAKPOINT_TABLE_H

#include "gdbstub/base/buffer.h"
#include "gdbstub/breakpoints/breakpoints.h"

/** Appends the table of `monitor breakpoints`. */
void breakpoints_print(struct breakpoints *breakpoints, struct buffer *out);

#endif
