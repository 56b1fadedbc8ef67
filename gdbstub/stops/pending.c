/* SPDX-License-Identifier: BSD-2-Clause */
#include "stops/pending.h"

#include "base/log.h"
#include "inferior/group_stop.h"
#include "inferior/inferiors.h"
#include "inferior/registers.h"
#include "inferior/thread.h"
#include "stops/hit.h"
#include "stops/ignore.h"
#include "stops/look.h"
#include "stops/replay.h"
#include "stops/step_over.h"
#include "stops/trap.h"
#include "stops/unattended.h"
#include "stops/watch.h"

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

static void take_thread_end(struct run *run, struct pending_stop *pending,
			    struct stop *stop)
{
	*stop = pending->stop;
	TAILQ_REMOVE(&run->thread_ends, pending, link);
	free(pending);
}

void pending_forget_thread_ends(struct run *run, pid_t pid)
{
	struct pending_stop *pending, *next;
	struct stop stop;

	for (pending = TAILQ_FIRST(&run->thread_ends); pending; pending = next) {
		next = TAILQ_NEXT(pending, link);
		if (pid == 0 || pending->stop.pid == pid)
			take_thread_end(run, pending, &stop);
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

/* The gate is open while hits become pending, so it was closed since: the hit, which
 * nobody has been told of, is one of the next. */
static bool hit_is_ignored(struct thread *thread, struct location *location)
{
	if (!gate_ignores(ignore_gate(location)))
		return false;
	watch_ignored(location);
	if (look_has_ended(thread))
		return true; /* it is after the access */
	if (!location->trap || !trap_skip_own(thread))
		step_over_want(thread, location);
	return true;
}

static bool hit_is_stale(struct thread *thread, const struct stop *stop,
			 enum breakpoint_type type)
{
	struct location *location =
		breakpoints_wanted(thread->inferior->breakpoints, type, stop->addr);
	uint64_t pc;

	if (!location)
		return true;
	if (type <= BREAKPOINT_HARDWARE &&
	    (thread_get_pc(thread, &pc) < 0 || pc != stop->addr))
		return true;
	return hit_is_ignored(thread, location);
}

/* Is a stop of its thread's nothing to its client any more? The client makes the step
 * that it has been promised (look.h), or does without. */
static bool is_stale(struct thread *thread, const struct pending_stop *pending)
{
	const struct stop *stop = &pending->stop;

	if (look_is_shown(thread) || pending->step_ended)
		return thread->control->action.kind == RESUME_CONTINUE;
	switch (stop->kind) {
	case STOP_SWBREAK:
		return hit_is_stale(thread, stop, BREAKPOINT_SOFTWARE);
	case STOP_HWBREAK:
		return hit_is_stale(thread, stop, BREAKPOINT_HARDWARE);
	case STOP_WATCH:
		return hit_is_stale(thread, stop, stop->watch);
	case STOP_SYSCALL_ENTRY:
	case STOP_SYSCALL_RETURN:
		return !syscalls_wanted(&thread->inferior->syscalls, stop->syscall);
	default:
		return false;
	}
}

void pending_drop_stale(struct run *run, struct thread *thread)
{
	if (!thread->control->pending_stop ||
	    !is_stale(thread, thread->control->pending_stop))
		return;
	pending_clear(thread);
	if (thread->pending.kind != EVENT_NONE)
		pending_set_signal(run, &thread->pending);
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

/* Of a thread that is to be told again the client hears why it stopped last; the
 * thread that stopped last comes first. */
static struct thread *first_untold(const struct run *run)
{
	struct inferior *inferior;
	struct thread *thread, *first = NULL;

	if (!run->any_untold)
		return NULL;
	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		TAILQ_FOREACH (thread, &inferior->threads, link) {
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
 * resumes it: before, it does not expect any event. */
static bool is_end_reportable(const struct run *run, const struct inferior *inferior)
{
	return inferior->control->pending_stop && !inferior->unattended &&
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

bool pending_any(const struct run *run)
{
	return first_untold(run) || !TAILQ_EMPTY(&run->thread_ends) ||
	       first_ended(run) || first_thread(run);
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

void pending_take_thread(struct run *run, struct thread *thread, struct stop *stop)
{
	if (thread->control->pending_stop->step_ended)
		hits_stepped_to(thread, run_output(run, thread->inferior));
	*stop = thread->control->pending_stop->stop;
	if (stop->kind == STOP_WATCH && look_tell(thread, stop))
		return;
	if (!thread->control->pending_stop->replayed &&
	    replay_begin(thread, &thread->control->pending_stop->stop)) {
		thread->control->pending_stop->replayed = true;
		return;
	}
	pending_clear(thread);
	if (stop->looks)
		hits_stepped_to(thread, run_output(run, thread->inferior));
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

bool pending_take(struct run *run, struct stop *stop)
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
		pending_take_thread(run, thread, stop);
	return untold || thread_end || ended || thread;
}
