/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/run/leave.h"

#include <signal.h>

#include "gdbstub/base/log.h"
#include "gdbstub/tracing/attach.h"
#include "gdbstub/tracing/inferiors.h"
#include "gdbstub/tracing/siginfo.h"
#include "gdbstub/tracing/wait.h"
#include "gdbstub/breakpoints/commit.h"
#include "gdbstub/run/events.h"
#include "gdbstub/run/fork.h"
#include "gdbstub/run/halt.h"
#include "gdbstub/stops/pending.h"
#include "gdbstub/text/traps.h"

static bool ended(struct run *run, struct inferior *inferior)
{
	struct event event;

	/* Somebody else may have killed it in the meantime. */
	for (;;) {
		inferiors_wait(&run->inferiors, false, &event);
		if (event.kind == EVENT_NONE)
			break;
		run->halting = true;
		events_handle(run, &event);
		run->halting = false;
	}
	halt_settle(run);
	return inferior->control->pending_stop != NULL;
}

/* A process whose fork the client has not heard of, or NULL. */
static struct inferior *hidden_child(struct run *run, struct inferior *parent)
{
	struct thread *thread;

	FOREACH_THREAD (thread, parent) {
		struct inferior *child = NULL;

		if (thread->control->pending_stop)
			child = inferior_find(
				&run->inferiors,
				thread->control->pending_stop->stop.child);
		if (child && child->control->hidden)
			return child;
	}
	return NULL;
}

/*
 * Traps of a vfork child lie in the memory of its parent, which nobody will clean once
 * that is let go. Those that are wanted now are all that stay.
 */
static void clean_before_leaving(struct run *run, const struct inferior *parent)
{
	struct inferior *child;

	TAILQ_FOREACH (child, &run->inferiors.list, link) {
		_cleanup_error_ struct error *error = NULL;

		if (child->vfork_parent != parent || child->control->hidden)
			continue;
		error = breakpoints_commit(child->breakpoints, false);
		if (error || breakpoints_have_traps(child->breakpoints))
			log_warning("breakpoints of process %d, which shares the "
				    "memory of process %d, are still inserted",
				    child->pid, parent->pid);
	}
}

/*
 * The signal that the thread has stopped for last goes to the program as well, unless
 * the client wants it withheld. A trap that the kernel raised (si_code > 0) was ours.
 */
static void settle_signal(const struct run *run, struct thread *thread)
{
	int signal = thread->control->last_signal;
	siginfo_t info;

	if (thread->pending.kind == EVENT_SIGNAL &&
	    run->withhold_signal[thread->pending.signal])
		thread->pending.kind = EVENT_NONE;
	if (thread->pending.kind == EVENT_NONE && thread->owed_signal == 0 &&
	    thread->at_signal && !run->withhold_signal[signal] &&
	    thread_get_siginfo(thread, &info) == 0 && info.si_signo == signal &&
	    (signal != SIGTRAP || info.si_code <= 0))
		thread->owed_signal = signal;
}

void leave_inferior(struct run *run, struct inferior *inferior, pid_t signal_tid,
		    int signal)
{
	bool gone = ended(run, inferior);
	struct inferior *child;
	struct thread *thread;

	while ((child = hidden_child(run, inferior))) {
		child->control->hidden = false;
		leave_inferior(run, child, 0, 0);
	}
	if (inferior->vfork_parent && !gone)
		fork_lend_memory(inferior->vfork_parent, inferior->vfork_maker);
	clean_before_leaving(run, inferior);
	FOREACH_THREAD (thread, inferior)
		settle_signal(run, thread);
	pending_forget_thread_ends(run, inferior->pid);
	breakpoints_destroy(inferior->breakpoints, gone);
	if (gone)
		inferior_destroy(inferior);
	else
		inferior_detach(inferior, signal_tid, signal);
	fork_let_orphans_go(run);
}

void leave_by_kill(struct run *run, struct inferior *inferior)
{
	struct inferior *child;

	while ((child = hidden_child(run, inferior))) {
		child->control->hidden = false;
		leave_by_kill(run, child);
	}
	fork_leave_memory(run, inferior);
	pending_forget_thread_ends(run, inferior->pid);
	breakpoints_destroy(inferior->breakpoints, true);
	inferior_kill(inferior);
	fork_let_orphans_go(run);
}
