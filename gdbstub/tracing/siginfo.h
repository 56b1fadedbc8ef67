/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel tells of the signal that a thread has stopped for, and of those that
 * it blocks. */
#ifndef TRUEHIT_TRACING_SIGINFO_H
#define TRUEHIT_TRACING_SIGINFO_H

#include <signal.h>

#include "gdbstub/inferior/inferior.h"

/** PTRACE_GETSIGINFO and _SETSIGINFO, of a stopped thread: 0 or a negative errno. */
int thread_get_siginfo(const struct thread *thread, siginfo_t *info);
int thread_set_siginfo(const struct thread *thread, const siginfo_t *info);

/** A signal among others, as the kernel has them. */
static inline uint64_t signal_bit(int signal)
{
	return UINT64_C(1) << (signal - 1);
}
/** PTRACE_GETSIGMASK and _SETSIGMASK, the same. */
int thread_get_mask(const struct thread *thread, uint64_t *mask);
int thread_set_mask(const struct thread *thread, uint64_t mask);

#endif
