/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of `monitor breakpoints`. */
#ifndef TRUEHIT_STOPS_BREAKPOINT_TABLE_H
#define TRUEHIT_STOPS_BREAKPOINT_TABLE_H

#include "base/buffer.h"
#include "stops/breakpoints.h"

/** Appends the table of `monitor breakpoints`. */
void breakpoints_print(struct breakpoints *breakpoints, struct buffer *out);

#endif
