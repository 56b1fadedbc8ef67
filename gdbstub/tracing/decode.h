/* SPDX-License-Identifier: BSD-2-Clause */
/* What wait statuses tell: events, or nothing that anybody needs to hear of. */
#ifndef TRUEHIT_TRACING_DECODE_H
#define TRUEHIT_TRACING_DECODE_H

#include <stdbool.h>
#include <sys/types.h>

#include "gdbstub/inferior/inferior.h"

/**
 * Turns a status into an event. False: there is nothing to report, because the
 * status was kept for later or the thread was resumed.
 */
bool wait_decode(struct inferiors *inferiors, pid_t tid, int status,
		 struct event *event);
/** Does a signal wait that this stopped thread, and no other, gets before it executes
 * another instruction? */
bool wait_signal_comes(const struct thread *thread);
/**
 * Takes signals of ours that this stopped thread has not got yet, as nobody will expect
 * them any longer: a SIGSTOP that a BPF program has sent, a SIGTRAP that the kernel has
 * raised. Others stay pending.
 */
void wait_take_own(struct thread *thread);
/**
 * Lets a thread that is stopped inside a system call run to the end of that call.
 * False: it was killed meanwhile; its end is kept for the next wait. The thread may be
 * late afterwards.
 */
bool wait_syscall_end(struct thread *thread);

#endif
