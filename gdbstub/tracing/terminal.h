/* SPDX-License-Identifier: BSD-2-Clause */
/* The terminal that a started program and the server share. */
#ifndef TRUEHIT_TRACING_TERMINAL_H
#define TRUEHIT_TRACING_TERMINAL_H

#include <sys/types.h>

/**
 * Makes @group the foreground group of our terminal (standard input, or else
 * standard error), if there is one and we are its foreground group. Returns our
 * group, for terminal_return, or 0 if nothing was done.
 */
pid_t terminal_lend(pid_t group);
/** Takes the terminal back from @group for @ours, unless somebody else has it. */
void terminal_return(pid_t group, pid_t ours);

#endif
