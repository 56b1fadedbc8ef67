/* SPDX-License-Identifier: BSD-2-Clause */
/* The hit of a breakpoint at which registers are as they are to be. */
#ifndef TRUEHIT_BREAKPOINTS_UNTIL_STATE_H
#define TRUEHIT_BREAKPOINTS_UNTIL_STATE_H

#include "gdbstub/locations/location.h"

/** `monitor until-state LOCATION REGISTER=VALUE...`: all hits are ignored but the next
 * one that is like that; `LOCATION off`: none is. Says what it did. */
struct error *until_state(struct inferior *inferior, const char *args,
			  struct buffer *out);

#endif
