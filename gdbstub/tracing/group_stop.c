/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/tracing/group_stop.h"

#include "gdbstub/inferior/proc.h"

bool group_stop_begins(struct thread *thread, int signal)
{
	bool known = thread->group_stopped;

	/* SIGTRAP: the process is not stopped, or a SIGCONT has come. */
	thread->group_stopped = signal != SIGTRAP;
	return thread->group_stopped && !known;
}

static void set_all(struct thread *thread, bool known)
{
	struct thread *other;

	FOREACH_THREAD (other, thread->inferior) {
		if (other->group == thread->group)
			other->group_stopped = known;
	}
}

void group_stop_tell_for_all(struct thread *thread)
{
	set_all(thread, true);
}

void group_stop_forget(struct thread *thread)
{
	thread->group_stopped = false;
}

void group_stop_return(struct thread *thread)
{
	if (!thread->group_stopped)
		return;
	group_stop_forget(thread);
	thread->left_group_stop = true;
}

static bool stops(const struct thread *thread, int signal)
{
	if (signal == SIGSTOP)
		return true;
	if (signal != SIGTSTP && signal != SIGTTIN && signal != SIGTTOU)
		return false;
	return !((proc_status_bits(thread->tid, "SigCgt") |
		  proc_status_bits(thread->tid, "SigIgn")) >>
			 (signal - 1) &
		 1);
}

void group_stop_expect(struct thread *thread, int signal)
{
	if (stops(thread, signal))
		set_all(thread, false);
}
