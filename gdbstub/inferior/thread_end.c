/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/inferior/thread_end.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>

#include "gdbstub/inferior/proc.h"

int thread_set_options(pid_t tid, const struct inferior *inferior, uintptr_t more)
{
	uintptr_t options = TRACE_OPTIONS | more;

	if (!inferior->attached)
		options |= PTRACE_O_EXITKILL;
	return ptrace(PTRACE_SETOPTIONS, tid, NULL, options) < 0 ? -errno : 0;
}

/* One that is late ends after it has stopped, unless it is killed. */
int thread_tell_end(struct thread *thread)
{
	int err = thread->late ? 0
			       : thread_set_options(thread->tid, thread->inferior,
						    PTRACE_O_TRACEEXIT);

	thread->options_due = thread->late;
	thread->tells_end = err == 0;
	return err;
}

enum { PF_EXITING = 0x4, PF_SIGNALED = 0x400 }; /* include/linux/sched.h */

/* Also true of a thread that is gone. */
static bool has_flags(const struct thread *thread, unsigned long wanted)
{
	char flags[16];

	return !proc_stat_field(thread->tid, PROC_STAT_FLAGS, flags, sizeof(flags)) ||
	       strtoul(flags, NULL, 10) & wanted;
}

bool thread_is_killed(const struct thread *thread)
{
	return has_flags(thread, PF_SIGNALED);
}

/* The order counts: what is killed has SIGKILL pending until it is marked
 * (kernel/signal.c, zap_other_threads and get_signal). */
static bool is_ending(const struct thread *thread)
{
	return proc_status_bits(thread->tid, "SigPnd") & UINT64_C(1) << (SIGKILL - 1) ||
	       has_flags(thread, PF_EXITING | PF_SIGNALED);
}

bool thread_is_outlived(const struct thread *leader)
{
	const struct thread *other;

	if (!thread_is_zombie(leader) || thread_is_killed(leader))
		return false;
	FOREACH_THREAD (other, leader->inferior) {
		if (other != leader && other->group == leader->group &&
		    !is_ending(other))
			return true;
	}
	return false;
}
