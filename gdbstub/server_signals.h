/* SPDX-License-Identifier: BSD-2-Clause */
/* The signals that the server gets, by a descriptor that its event loop reads. */
#ifndef TRUEHIT_SERVER_SIGNALS_H
#define TRUEHIT_SERVER_SIGNALS_H

#include <stdbool.h>
#include <sys/types.h>

#include "gdbstub/base/error.h"

/**
 * Blocks SIGCHLD and the signals that end us, but for those that our parent wants to be
 * ignored; *ret is a signalfd(2) of these, which is the caller's to close. The program
 * has the terminal; what we print appears all the same (stty tostop). @guard: its
 * process, the end of which is told by a signal, too; 0: there is none.
 */
struct error *server_signals_catch(pid_t guard, int *ret);

/** Is there a SIGCHLD for each stop? A parent's `trap "" CHLD` would have the kernel
 * send none (kernel/signal.c: do_notify_parent_cldstop). */
bool server_signals_tell_of_children(void);

#endif
