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

/* It goes its own way, with no trap of ours in its text. */
static void let_go(const struct event *event)
{
	struct inferior *child =
		inferior_create(event->inferior->owner, event->child_pid, true);

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
 * is done, and so that nobody runs past them meanwhile, the parent's other threads
 * wait; the parent itself goes on even if everything is being halted: it executes no
 * instruction before its child is done, and if that takes long, it is late for the halt
 * (gdbstub/inferior/late.h). Of several threads that do this at a time, the last one
 * that is done brings the traps back. So too where there are none yet: those that the
 * client inserts meanwhile come when the child is done.
 */

struct lending {
	TAILQ_ENTRY(lending) link;
	struct event event; /* of the vfork */
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

/* The thread may have been killed since, with its process, or by another one's exec:
 * its child goes on in this memory, and no trap is needed there any more. */
static void lend(struct run *run, const struct event *event)
{
	struct thread *thread;

	if (!event->inferior->control->pending_stop)
		fork_lend_memory(event->inferior, event->tid);
	let_go(event);
	thread = inferior_thread(event->inferior, event->tid);
	if (thread && !event->inferior->control->pending_stop)
		resuming_thread(run, thread);
}

void fork_lend_all(struct run *run)
{
	struct lending *lending;

	while ((lending = TAILQ_FIRST(&run->lendings))) {
		TAILQ_REMOVE(&run->lendings, lending, link);
		lend(run, &lending->event);
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
	TAILQ_INSERT_TAIL(&run->lendings, lending, link);
}

void fork_on_vfork(struct run *run, const struct event *event)
{
	if (run->wishes.vfork && adopt(run, event))
		pending_set(run, event->thread,
			    (struct stop){.kind = STOP_VFORK,
					  .signal = SIGTRAP,
					  .child = event->child_pid});
	else if (event->own_memory)
		let_go_and_on(run, event);
	else
		ask_to_lend(run, event);
}

void fork_give_back(struct inferior *child)
{
	struct inferior *parent = child->vfork_parent;

	if (!parent)
		return;
	child->vfork_parent = NULL;
	breakpoints_clean_child(child->breakpoints, parent);
}

void fork_on_vfork_done(struct run *run, const struct event *event)
{
	struct inferior *parent = event->inferior, *child;

	TAILQ_FOREACH (child, &run->inferiors.list, link) {
		if (child->vfork_parent == parent && child->vfork_maker == event->tid)
			fork_give_back(child);
	}
	alone_end_lending(run, event->thread);
	if (run->wishes.vfork)
		pending_set(run, event->thread,
			    (struct stop){.kind = STOP_VFORK_DONE, .signal = SIGTRAP});
	else
		ready_note(run, event->thread);
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

	if (!stepping || stepping->inferior == event->inferior)
		alone_forget_step(run);
	alone_forget_lenders(event->inferior);
	event->inferior->leaderless = false;
	fork_give_back(event->inferior);
	breakpoints_forget(event->inferior->breakpoints);
	replay_end(event->inferior);
	if (event->inferior->compat)
		enter_compat(run, event->inferior);
	pending_clear(thread);
	thread->pending.kind = EVENT_NONE;
	thread->control->needs_step_over = false;
	thread->control->end_told = false;
	pending_set(run, thread, (struct stop){.kind = STOP_EXEC, .signal = SIGTRAP});
}
