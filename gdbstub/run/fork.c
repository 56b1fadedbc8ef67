/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes that come from others: fork, vfork, exec. */
#include "gdbstub/run/fork.h"

#include "gdbstub/base/log.h"
#include "gdbstub/tracing/attach.h"
#include "gdbstub/inferior/compat.h"
#include "gdbstub/tracing/inferiors.h"
#include "gdbstub/inferior/late.h"
#include "gdbstub/tracing/resume.h"
#include "gdbstub/inferior/thread.h"
#include "gdbstub/stops/alone.h"
#include "gdbstub/breakpoints/commit.h"
#include "gdbstub/stops/pending.h"
#include "gdbstub/control/ready.h"
#include "gdbstub/hits/replay.h"
#include "gdbstub/run/resuming.h"
#include "gdbstub/text/traps.h"

/* ---- the child ---- */

/* The kernel has given it its parent's options. */
static void begin_late(const struct event *event, const struct inferior *child)
{
	struct thread *thread = TAILQ_FIRST(&child->threads);

	if (!event->child_late)
		return;
	thread_interrupt(thread);
	thread_set_late(thread);
	thread->bound = !event->inferior->attached;
}

/* A program that forks often has no breakpoints most of the time: its children are let
 * go at once. */
static bool has_traps(const struct inferior *parent)
{
	const struct inferior *other;

	FOREACH_SHARING (other, parent) {
		if (other->breakpoints && breakpoints_have_traps(other->breakpoints))
			return true;
	}
	return false;
}

/* It goes its own way, with no trap of ours in its text. */
static void let_go(const struct event *event)
{
	struct inferior *child;

	if (event->own_memory && !event->child_late && !has_traps(event->inferior)) {
		newborn_detach(event->child_pid);
		return;
	}
	child = inferior_create(event->inferior->owner, event->child_pid, true);
	if (!child) {
		log_warning("out of memory: child %d stays stopped", event->child_pid);
		return;
	}
	begin_late(event, child);
	if (event->own_memory)
		breakpoints_clean_child(event->inferior->breakpoints, child);
	inferior_detach(child, 0, 0);
}

static void let_go_and_on(struct run *run, const struct event *event)
{
	let_go(event);
	ready_note(run, event->thread);
}

/* It becomes an inferior with the same breakpoints, of which the client hears by the
 * stop of its parent. False: out of memory. */
static bool adopt(struct run *run, const struct event *event)
{
	struct inferior *parent = event->inferior;
	struct inferior *child =
		inferior_create(parent->owner, event->child_pid, parent->attached);

	if (child && !breakpoints_create(child, &run->engines))
		inferior_destroy(take_ptr(child));
	if (!child) {
		log_warning("out of memory: child %d is not followed",
			    event->child_pid);
		return false;
	}
	begin_late(event, child);
	child->control->hidden = true;
	child->compat = parent->compat;
	if (syscalls_copy(&child->syscalls, &parent->syscalls) < 0)
		log_warning("out of memory: system calls of child %d are not caught",
			    event->child_pid);
	if (event->own_memory) {
		breakpoints_clean_child(parent->breakpoints, child);
	} else {
		child->vfork_parent = parent;
		child->vfork_maker = event->tid;
	}
	breakpoints_inherit(child->breakpoints, parent->breakpoints);
	return true;
}

/* ---- fork ---- */

void fork_on_fork(struct run *run, const struct event *event)
{
	if (run->wishes.fork && adopt(run, event)) {
		pending_set(run, event->thread,
			    (struct stop){.kind = STOP_FORK,
					  .signal = SIGTRAP,
					  .child = event->child_pid});
		return;
	}
	let_go_and_on(run, event);
}

/* ---- vfork ---- */

/*
 * A vfork child runs in its parent's memory. One that is an inferior may meet the
 * traps there, as its parent does. From one that is let go they must be away until it
 * is done, those too that a client inserts meanwhile; so that nobody runs past them,
 * the parent's other threads wait; the parent itself goes on even if everything is
 * being halted: it executes no instruction before its child is done, and if that takes
 * long, it is late for the halt (gdbstub/inferior/late.h). Of several threads that do
 * this at a time, the last one that is done brings the traps back.
 */

struct lending {
	TAILQ_ENTRY(lending) link;
	struct event event; /* of the vfork */
	bool is_of_process; /* ... by a thread of the process, rather than by a task
			     * that only shares its memory */
};

void fork_lend_memory(struct inferior *parent, pid_t maker)
{
	struct thread *thread = inferior_thread(parent, maker);
	_cleanup_error_ struct error *error =
		breakpoints_commit(parent->breakpoints, false);

	if (thread)
		alone_begin_lending(thread);
	if (!error)
		error = breakpoints_lift_traps(parent->breakpoints, 0, true);
	if (error)
		log_warning("%s", error_text(error));
}

/* All of the process has been killed since: nobody goes on. */
static void leave_to(const struct event *event)
{
	_cleanup_error_ struct error *error =
		breakpoints_lift_traps(event->inferior->breakpoints, 0, true);

	if (error)
		log_warning("%s", error_text(error));
	let_go(event);
}

/* The thread may have been killed since: with its process, or else the traps come back
 * at once. */
static void lend(struct run *run, const struct lending *lending)
{
	const struct event *event = &lending->event;
	struct thread *thread;

	fork_lend_memory(event->inferior, event->tid);
	let_go(event);
	thread = inferior_thread(event->inferior, event->tid);
	if (thread)
		resuming_thread(run, thread);
	else if (lending->is_of_process)
		alone_lend_for_good(event->inferior);
	else
		alone_want_back(run, event->inferior);
}

void fork_lend_all(struct run *run)
{
	struct lending *lending;

	while ((lending = TAILQ_FIRST(&run->lendings))) {
		TAILQ_REMOVE(&run->lendings, lending, link);
		if (lending->event.inferior->control->pending_stop)
			leave_to(&lending->event);
		else
			lend(run, lending);
		free(lending);
	}
}

/* Nobody may run meanwhile. */
static void ask_to_lend(struct run *run, const struct event *event)
{
	struct lending *lending = calloc(1, sizeof(*lending));

	if (!lending) {
		log_warning("out of memory: child %d stays stopped", event->child_pid);
		return;
	}
	lending->event = *event;
	lending->is_of_process = event->thread->group == event->inferior->pid;
	TAILQ_INSERT_TAIL(&run->lendings, lending, link);
}

void fork_on_vfork(struct run *run, const struct event *event)
{
	if (run->wishes.vfork && adopt(run, event))
		pending_set(run, event->thread,
			    (struct stop){.kind = STOP_VFORK,
					  .signal = SIGTRAP,
					  .child = event->child_pid});
	else if (!event->own_memory)
		ask_to_lend(run, event);
	else
		let_go_and_on(run, event);
}

/* Traps that one of its threads has lifted for a step are put back by those who stay in
 * the memory. */
static void hand_traps_over(struct run *run, struct inferior *inferior)
{
	struct inferior *other;

	if (!inferior->control->traps_away &&
	    !inferior_thread(inferior, run->stepping_over))
		return;
	FOREACH_SHARING (other, inferior) {
		if (other != inferior && !other->control->hidden &&
		    !other->control->pending_stop)
			alone_want_back(run, other);
	}
}

/* Its vfork children stay in the memory, with its parent or with the first of them.
 * Returns that one; NULL: nobody stays. */
static struct inferior *find_heir(struct run *run, struct inferior *inferior)
{
	struct inferior *heir = take_ptr(inferior->vfork_parent), *child;

	TAILQ_FOREACH (child, &run->inferiors.list, link) {
		if (child->vfork_parent != inferior)
			continue;
		child->vfork_parent = heir;
		if (!heir)
			heir = child;
	}
	return heir;
}

void fork_leave_memory(struct run *run, struct inferior *inferior)
{
	struct inferior *heir;

	hand_traps_over(run, inferior);
	heir = find_heir(run, inferior);
	if (heir)
		breakpoints_clean_child(inferior->breakpoints, heir);
}

void fork_on_vfork_done(struct run *run, const struct event *event)
{
	struct inferior *parent = event->inferior, *child;

	TAILQ_FOREACH (child, &run->inferiors.list, link) {
		if (child->vfork_parent == parent && child->vfork_maker == event->tid)
			fork_leave_memory(run, child);
	}
	fork_note_orphans(run);
	alone_end_lending(run, event->thread);
	if (run->wishes.vfork)
		pending_set(run, event->thread,
			    (struct stop){.kind = STOP_VFORK_DONE, .signal = SIGTRAP});
	else
		ready_note(run, event->thread);
}

/* ---- orphans ---- */

/*
 * Children whose maker was killed, with the stop that was to tell of them: nobody will
 * ever hear of them, so they go their own way. One that is in the memory of others who
 * may meet traps waits until these have left it, as nobody tells when it is done.
 */

static bool is_to_be_told(const struct run *run, const struct inferior *child)
{
	const struct thread_control *control;

	TAILQ_FOREACH (control, &run->has_pending, has_pending)
		if (control->pending_stop->stop.child == child->pid)
			return true;
	return false;
}

static bool must_wait(const struct inferior *child)
{
	const struct inferior *other;

	FOREACH_SHARING (other, child) {
		if (!other->control->hidden && !other->control->pending_stop &&
		    !other->control->lends_for_good)
			return true;
	}
	return false;
}

/* One that can go, or NULL. */
static struct inferior *find_orphan(struct run *run)
{
	struct inferior *child;

	TAILQ_FOREACH (child, &run->inferiors.list, link)
		if (child->control->hidden && !child->unattended &&
		    !is_to_be_told(run, child) && !must_wait(child))
			return child;
	return NULL;
}

void fork_note_orphans(struct run *run)
{
	run->any_orphans |= find_orphan(run) != NULL;
}

static void let_orphan_go(struct run *run, struct inferior *child)
{
	_cleanup_error_ struct error *error = NULL;
	bool gone = child->control->pending_stop;

	if (!gone)
		error = breakpoints_lift_traps(child->breakpoints, 0, true);
	if (error)
		log_warning("%s", error_text(error));
	fork_leave_memory(run, child);
	breakpoints_destroy(child->breakpoints, gone);
	if (gone)
		inferior_destroy(child);
	else
		inferior_detach(child, 0, 0);
}

void fork_let_orphans_go(struct run *run)
{
	struct inferior *child;

	run->any_orphans = false;
	while ((child = find_orphan(run)))
		let_orphan_go(run, child);
}

/* ---- exec ---- */

/* The numbers of its system calls are other ones. */
static void enter_compat(struct run *run, struct inferior *inferior)
{
	_cleanup_error_ struct error *error = compat_refuse(inferior);
	struct buffer text _cleanup_buffer_ = {0};
	const struct output *output = control_output(run, inferior);

	syscalls_clear(&inferior->syscalls);
	buffer_printf(&text, "truehit: %s\n", error_text(error));
	output->print(output->data, buffer_string(&text), text.len);
}

void fork_on_exec(struct run *run, const struct event *event)
{
	const struct thread *stepping =
		thread_find(&run->inferiors, run->stepping_over);
	struct thread *thread = event->thread;

	if (run->stepping_over && (!stepping || stepping->inferior == event->inferior))
		alone_end_step(run, event->inferior);
	alone_forget_lenders(event->inferior);
	event->inferior->leaderless = false;
	fork_leave_memory(run, event->inferior);
	event->inferior->control->traps_away = false;
	event->inferior->control->executed++;
	breakpoints_forget(event->inferior->breakpoints);
	replay_end(event->inferior);
	fork_note_orphans(run);
	if (event->inferior->compat)
		enter_compat(run, event->inferior);
	pending_clear(thread);
	thread->pending.kind = EVENT_NONE;
	thread->control->needs_step_over = false;
	thread->control->end_told = false;
	pending_set(run, thread, (struct stop){.kind = STOP_EXEC, .signal = SIGTRAP});
}
