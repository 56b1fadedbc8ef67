/* SPDX-License-Identifier: BSD-2-Clause */
/* Ctrl-C: one thread answers for all, best one of the newest process. */
#include "gdbstub/run/interrupt.h"

#include <signal.h>
#include <string.h>

#include "gdbstub/inferior/late.h"
#include "gdbstub/inferior/proc.h"
#include "gdbstub/tracing/resume.h"
#include "gdbstub/inferior/thread_end.h"
#include "gdbstub/stops/pending.h"

enum { ANSWER_PATIENCE = 200 }; /* ms */

/* A request is answered by a thread of run->interrupt_pid, 0: by any. */
bool interrupt_is_for(const struct run *run, const struct thread *thread)
{
	return run->interrupt_requested && !thread->inferior->unattended &&
	       (run->interrupt_pid == 0 || run->interrupt_pid == thread->inferior->pid);
}

static bool sleeps(const struct thread *thread)
{
	char state[2];

	return proc_stat_field(thread->tid, PROC_STAT_STATE, state, sizeof(state)) &&
	       strchr("SD", *state);
}

/*
 * Another process's step that is about to end: gdb steps one thread over a breakpoint
 * before it resumes all. The request waits for that.
 */
static bool ends_soon(struct run *run, const struct thread *thread)
{
	return thread->control->action.kind == RESUME_STEP &&
	       thread->inferior->pid != run->newest &&
	       inferior_find(&run->inferiors, run->newest) && !sleeps(thread);
}

static bool can_answer(struct run *run, const struct thread *thread, pid_t pid)
{
	const struct inferior *inferior = thread->inferior;

	return (pid == 0 || inferior->pid == pid) && !inferior->unattended &&
	       thread->control->action.kind != RESUME_NONE &&
	       !thread->control->pending_stop && !thread_is_zombie(thread) &&
	       !ends_soon(run, thread);
}

static bool is_asked(const struct thread *thread)
{
	return thread->interrupting && !thread->late &&
	       !thread->control->stop_requested;
}

/* A thread of the process (0: of any) that is held or not, best one that was asked; a
 * late one only if there is no other. */
static struct thread *find_thread(struct run *run, pid_t pid, bool held)
{
	struct inferior *inferior;
	struct thread *thread, *chosen = NULL;

	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		FOREACH_THREAD (thread, inferior) {
			if (thread_is_held(thread) != held ||
			    !can_answer(run, thread, pid))
				continue;
			if (is_asked(thread))
				return thread;
			if (!chosen || (chosen->late && !thread->late))
				chosen = thread;
		}
	}
	return chosen;
}

void interrupt_ask(struct run *run)
{
	struct thread *thread = find_thread(run, run->interrupt_pid, false);

	if (!thread)
		thread = find_thread(run, 0, false);
	run->interrupt_pid = thread ? thread->inferior->pid : 0;
	if (thread && !is_asked(thread))
		thread_interrupt(thread);
}

void interrupt_answer_at_once(struct run *run)
{
	struct thread *thread = find_thread(run, run->newest, true);

	if (!thread)
		thread = find_thread(run, 0, true);
	if (!thread)
		return;
	run->interrupt_requested = false;
	pending_set(run, thread, (struct stop){.kind = STOP_SIGNAL, .signal = SIGINT});
}

void run_interrupt(struct run *run)
{
	run->interrupt_requested = !TAILQ_EMPTY(&run->inferiors.list);
	run->interrupt_pid = run->newest;
	lateness_begin(&run->interrupt_lateness);
	if (run->running)
		interrupt_ask(run);
}

bool interrupt_is_overdue(struct run *run)
{
	/* Whom run_interrupt asked may have ended instead of stopping. */
	interrupt_ask(run);
	lateness_look(&run->interrupt_lateness);
	return run->interrupt_lateness.waited >= ANSWER_PATIENCE;
}

int interrupt_patience(const struct run *run)
{
	return run->running && run->interrupt_requested ? ANSWER_PATIENCE : -1;
}
