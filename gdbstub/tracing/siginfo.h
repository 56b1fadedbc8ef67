/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel tells of the signal that a thread has stopped for. */
#ifndef TRUEHIT_TRACING_SIGINFO_H
#define TRUEHIT_TRACING_SIGINFO_H

#include <signal.h>

#include "gdbstub/inferior/inferior.h"

/** PTRACE_GETSIGINFO and _SETSIGINFO, of a stopped thread: 0 or a negative errno. */
int thread_get_siginfo(const struct thread *thread, siginfo_t *info);
int thread_set_siginfo(const struct thread *thread, const siginfo_t *info);

#endif
