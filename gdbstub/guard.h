/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The guard: the process that users see and may kill. It forks the server at once, and
 * from then on only hands on signals to it, and its exit status to whoever waits. So
 * SIGKILL hits a process that traces nothing; the server hears of it and ends as it
 * always does.
 *
 * Why: what becomes of a traced thread whose tracer dies is the kernel's business. It
 * goes on with the signal that it is stopped for, if only to tell of a trap or a step,
 * and planted traps stay (kernel/ptrace.c, exit_ptrace).
 */
#ifndef TRUEHIT_GUARD_H
#define TRUEHIT_GUARD_H

#include <sys/types.h>

/**
 * Forks. The parent stays inside as the guard; the child returns, with the guard's PID,
 * or 0 if there can be none. To be called first of all: what is open then is shared.
 */
pid_t guard_start(void);

/**
 * From now on the end of @guard, however long ago, sends us SIGNAL_GUARD_ENDED, which
 * is to be blocked.
 */
void guard_watch(pid_t guard);

#endif
