/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel tells of the signal that a thread has stopped for, and of those that
 * it blocks; and signals that come when nobody is to see them. */
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

/** Has the kernel raised it? So is the end of a step at a uprobe, which is SI_USER
 * (kernel/events/uprobes.c: send_sig): what kill(2) sends is not told apart from it. */
bool signal_is_by_kernel(const siginfo_t *info);

/** Signals that came in the middle of something that a thread was made to execute with
 * most of them blocked: a SIGSTOP cannot be, nor those by which a step may end. */
struct signals_aside {
	siginfo_t info[8];
	unsigned int count;
};

/**
 * Puts the signal that the thread has stopped for aside: the thread is to go on. A
 * SIGSTOP of a BPF program or of a counter (counter.h) is nobody's any longer. False:
 * it is the kernel's, of a step or a fault.
 */
bool signals_put_aside(struct signals_aside *aside, const struct thread *thread);
/** Sends them again, from the server; a SIGSTOP not if a SIGCONT has come since. */
void signals_send_again(const struct signals_aside *aside, const struct thread *thread);

#endif
