/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/stops/pending.h"

#include "gdbstub/base/log.h"
#include "gdbstub/tracing/group_stop.h"
#include "gdbstub/tracing/inferiors.h"
#include "gdbstub/inferior/registers.h"
#include "gdbstub/inferior/thread.h"
#include "gdbstub/hits/look_after.h"

static struct pending_stop *pending_create(struct run *run, struct stop stop)
{
	struct pending_stop *pending = calloc(1, sizeof(*pending));

	if (!pending) {
		log_warning("out of memory: a stop of thread %d is lost", stop.tid);
		return NULL;
	}
	pending->stop = stop;
	pending->order = run->order++;
	return pending;
}

/* The user's request stays open, for the next stop. */
static void give_way(struct run *run, struct thread *thread)
{
	if (!thread->control->pending_stop || !thread->control->pending_stop->gives_way)
		return;
	run->interrupt_requested |=
		thread->control->pending_stop->stop.signal == SIGINT;
	pending_clear(thread);
}

void pending_set(struct run *run, struct thread *thread, struct stop stop)
{
	stop.pid = thread->inferior->pid;
	stop.tid = thread->tid;
	give_way(run, thread);
	if (thread->control->pending_stop)
		return;
	thread->control->pending_stop = pending_create(run, stop);
	if (!thread->control->pending_stop)
		return;
	thread->control->pending_stop->gives_way = thread->late;
	TAILQ_INSERT_TAIL(&run->has_pending, thread->control, has_pending);
}

void pending_set_step_ended(struct run *run, struct thread *thread)
{
	if (thread->control->pending_stop)
		return;
	pending_set(run, thread, (struct stop){.kind = STOP_SIGNAL, .signal = SIGTRAP});
	if (thread->control->pending_stop)
		thread->control->pending_stop->step_ended = true;
}

void pending_set_signal(struct run *run, const struct event *event)
{
	struct stop stop = {.kind = STOP_SIGNAL, .signal = event->signal};

	if (event != &event->thread->pending)
		event->thread->pending = *event;
	pending_set(run, event->thread, stop);
}

void pending_set_end(struct run *run, const struct event *event)
{
	struct inferior *inferior = event->inferior;
	struct stop stop = {
		.kind = event->kind == EVENT_EXITED ? STOP_EXITED : STOP_KILLED,
		.pid = inferior->pid,
		.tid = inferior->pid,
		.signal = event->signal,
		.status = event->status,
	};

	if (!inferior->control->pending_stop)
		inferior->control->pending_stop = pending_create(run, stop);
}

void pending_set_thread_end(struct run *run, const struct inferior *inferior, pid_t tid,
			    int status)
{
	struct stop stop = {
		.kind = STOP_THREAD_EXITED,
		.pid = inferior->pid,
		.tid = tid,
		.status = status,
	};
	struct pending_stop *pending = pending_create(run, stop);

	if (pending)
		TAILQ_INSERT_TAIL(&run->thread_ends, pending, link);
}

void pending_drop_thread_end(struct run *run, struct pending_stop *pending)
{
	TAILQ_REMOVE(&run->thread_ends, pending, link);
	free(pending);
}

void pending_forget_thread_ends(struct run *run, pid_t pid)
{
	struct pending_stop *pending, *next;

	for (pending = TAILQ_FIRST(&run->thread_ends); pending; pending = next) {
		next = TAILQ_NEXT(pending, link);
		if (pid == 0 || pending->stop.pid == pid)
			pending_drop_thread_end(run, pending);
	}
}

void pending_clear(struct thread *thread)
{
	if (!thread->control->pending_stop)
		return;
	TAILQ_REMOVE(&thread->inferior->owner->controller->has_pending, thread->control,
		     has_pending);
	if (look_has_ended(thread))
		look_forget(thread);
	free(take_ptr(thread->control->pending_stop));
}

/* As gdbserver: signals that a trap may have caused, or that come in the middle of
 * a step, are for the client to judge. */
bool pending_may_pass(const struct run *run, const struct event *event)
{
	if (event->inferior->unattended)
		return true;
	return run->pass_signal[event->signal] &&
	       event->thread->control->action.kind == RESUME_CONTINUE &&
	       event->signal != SIGTRAP && event->signal != SIGILL &&
	       event->signal != SIGSEGV;
}

/* A signal seen while halting, which the client does not want to hear of. */
void pending_pass_signal(const struct run *run, struct thread *thread)
{
	if (!thread->control->pending_stop || thread->control->action.signal != 0 ||
	    (thread->pending.kind != EVENT_SIGNAL &&
	     thread->pending.kind != EVENT_GROUP_STOP) ||
	    thread->control->pending_stop->stop.kind != STOP_SIGNAL ||
	    !pending_may_pass(run, &thread->pending))
		return;
	pending_pass(thread);
}

void pending_pass(struct thread *thread)
{
	/* Job control's signal has come before its stop. */
	if (thread->pending.kind == EVENT_SIGNAL)
		thread->control->action.signal = thread->pending.signal;
	else if (thread->inferior->unattended)
		group_stop_return(thread);
	thread->pending.kind = EVENT_NONE;
	pending_clear(thread);
}
