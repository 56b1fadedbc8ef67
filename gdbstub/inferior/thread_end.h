/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that end before others, and how that is heard of. */
#ifndef TRUEHIT_INFERIOR_THREAD_END_H
#define TRUEHIT_INFERIOR_THREAD_END_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/types.h>

#include "gdbstub/inferior/inferior.h"

/** Options of every traced thread. Started programs also get EXITKILL. */
enum {
	TRACE_OPTIONS = PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
			PTRACE_O_TRACEVFORKDONE | PTRACE_O_TRACEEXEC |
			PTRACE_O_TRACESYSGOOD,
};

/** The options of a stopped thread of @inferior: those of every traced one and @more.
 * 0 or a negative errno. */
int thread_set_options(pid_t tid, const struct inferior *inferior, uintptr_t more);
/** Has it been killed, or is it gone? */
bool thread_is_killed(const struct thread *thread);

/**
 * Has a stopped thread stop once more when it ends, its memory still there
 * (PTRACE_O_TRACEEXIT). Of a leader whom others outlive EVENT_LEADER_ENDS tells; all
 * others are passed over. -ESRCH: it is ending.
 */
int thread_tell_end(struct thread *thread);

/**
 * Has this leader ended by itself, and do other threads of its process live on? When
 * the whole process ends, or one of its threads calls exec, the leader can be a zombie
 * before the kernel has told of the ends of the others; that is no end of its own.
 */
bool thread_is_outlived(const struct thread *leader);

#endif
