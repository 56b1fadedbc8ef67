/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/stops/next_stop.h"

#include "gdbstub/tracing/inferiors.h"
#include "gdbstub/inferior/thread.h"
#include "gdbstub/hits/hit.h"
#include "gdbstub/hits/look_after.h"
#include "gdbstub/stops/pending.h"
#include "gdbstub/hits/replay.h"
#include "gdbstub/breakpoints/breakpoints.h"

/* Of a thread that is to be told again the client hears why it stopped last; the
 * thread that stopped last comes first. */
static struct thread *first_untold(const struct run *run)
{
	struct inferior *inferior;
	struct thread *thread, *first = NULL;

	if (!run->any_untold)
		return NULL;
	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		FOREACH_THREAD (thread, inferior) {
			if (thread->control->untold &&
			    (!first || thread->tid == run->last.tid))
				first = thread;
		}
	}
	return first;
}

static bool is_reportable(const struct thread *thread)
{
	return thread->control->pending_stop &&
	       thread->control->action.kind != RESUME_NONE &&
	       !thread->inferior->unattended;
}

static bool steps(const struct thread *thread)
{
	return thread->control->action.kind == RESUME_STEP ||
	       thread->control->action.kind == RESUME_RANGE;
}

/* The oldest. But in all-stop mode the client waits for the thread that it steps; the
 * others wait their turn. */
static struct thread *first_thread(const struct run *run)
{
	struct thread_control *control;
	struct thread *first = NULL;

	TAILQ_FOREACH (control, &run->has_pending, has_pending) {
		struct thread *thread = control->thread;

		if (is_reportable(thread) &&
		    (!first || (steps(thread) && !steps(first))))
			first = thread;
		if (first && (run->non_stop || steps(first)))
			break;
	}
	return first;
}

/* As with gdbserver, gdb hears of the end of a process that it has stopped when it
 * resumes it: before, it does not expect any event. That of a child comes after the
 * fork's stop. */
static bool is_end_reportable(const struct run *run, const struct inferior *inferior)
{
	return inferior->control->pending_stop && !inferior->unattended &&
	       !inferior->control->hidden &&
	       (!run->non_stop || inferior->control->awaited);
}

static struct inferior *first_ended(const struct run *run)
{
	struct inferior *inferior, *first = NULL;

	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		if (is_end_reportable(run, inferior) &&
		    (!first || inferior->control->pending_stop->order <
				       first->control->pending_stop->order))
			first = inferior;
	}
	return first;
}

bool next_stop_any(const struct run *run)
{
	return first_untold(run) || !TAILQ_EMPTY(&run->thread_ends) ||
	       first_ended(run) || first_thread(run);
}

static void take_thread_end(struct run *run, struct pending_stop *pending,
			    struct stop *stop)
{
	*stop = pending->stop;
	pending_drop_thread_end(run, pending);
}

static void take_untold(struct thread *thread, struct stop *stop)
{
	*stop = (struct stop){
		.kind = STOP_SIGNAL,
		.pid = thread->inferior->pid,
		.tid = thread->tid,
		.signal = thread->control->last_signal,
	};
	thread->control->untold = false;
}

static void take_end(struct inferior *inferior, struct stop *stop)
{
	*stop = inferior->control->pending_stop->stop;
	if (inferior->breakpoints)
		breakpoints_destroy(inferior->breakpoints, true);
	inferior_destroy(inferior);
}

/* The client comes to know of the process or thread that the stop is about. */
static void show_child(struct run *run, const struct stop *stop)
{
	struct inferior *child = inferior_find(&run->inferiors, stop->child);
	struct thread *thread = thread_find(&run->inferiors, stop->child);

	if (stop->kind == STOP_CLONE && thread)
		thread->control->hidden = false;
	else if (child)
		child->control->hidden = false;
}

/* The return from the call that ran the program, which the exec's stop included. */
static void return_from_exec(struct run *run, struct thread *thread)
{
	int number = thread->syscall;

	thread->syscall = SYSCALL_NONE;
	if (syscalls_wanted(&thread->inferior->syscalls, number))
		pending_set(run, thread,
			    (struct stop){.kind = STOP_SYSCALL_RETURN,
					  .signal = SIGTRAP,
					  .syscall = number});
}

static bool is_inside_call(enum stop_kind kind)
{
	return kind == STOP_FORK || kind == STOP_VFORK || kind == STOP_VFORK_DONE ||
	       kind == STOP_CLONE || kind == STOP_SYSCALL_ENTRY;
}

void next_stop_take_of(struct run *run, struct thread *thread, struct stop *stop)
{
	if (thread->control->pending_stop->step_ended)
		hits_stepped_to(thread, control_output(run, thread->inferior));
	*stop = thread->control->pending_stop->stop;
	stop->stepped = thread->control->pending_stop->step_ended;
	if (stop->kind == STOP_WATCH && look_tell(thread, stop))
		return;
	if (!thread->control->pending_stop->replayed &&
	    replay_begin(thread, &thread->control->pending_stop->stop)) {
		thread->control->pending_stop->replayed = true;
		stop->nothers = 0; /* of the picture they know nothing */
		return;
	}
	pending_clear(thread);
	if (stop->looks)
		hits_stepped_to(thread, control_output(run, thread->inferior));
	show_child(run, stop);
	/* As without us, a client's step from a stop inside a call ends where the call
	 * returns. */
	if (thread->in_syscall && is_inside_call(stop->kind))
		thread->stepping = true;
	if (stop->kind == STOP_EXEC)
		return_from_exec(run, thread);
	if (thread->pending.kind == EVENT_NONE)
		return;
	/* A signal that came together with a hit is reported after it. */
	if (stop->kind == STOP_SIGNAL && stop->signal == thread->pending.signal)
		thread->pending.kind = EVENT_NONE;
	else
		pending_set_signal(run, &thread->pending);
}

bool next_stop_take(struct run *run, struct stop *stop)
{
	struct pending_stop *thread_end = TAILQ_FIRST(&run->thread_ends);
	struct inferior *ended = first_ended(run);
	struct thread *untold = first_untold(run), *thread = first_thread(run);

	run->any_untold = untold != NULL;
	if (untold)
		take_untold(untold, stop);
	/* Threads end before their process does. */
	else if (thread_end)
		take_thread_end(run, thread_end, stop);
	else if (ended)
		take_end(ended, stop);
	else if (thread)
		next_stop_take_of(run, thread, stop);
	return untold || thread_end || ended || thread;
}
