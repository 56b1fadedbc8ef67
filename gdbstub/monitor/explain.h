/* SPDX-License-Identifier: BSD-2-Clause */
/* `monitor explain`: all that is known of how one location is served, and why. */
#ifndef TRUEHIT_MONITOR_EXPLAIN_H
#define TRUEHIT_MONITOR_EXPLAIN_H

#include "gdbstub/breakpoints/breakpoints.h"

void location_explain(struct location *location, struct buffer *out);

#endif
