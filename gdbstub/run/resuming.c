/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/run/resuming.h"

#include <errno.h>
#include <string.h>

#include "gdbstub/base/log.h"
#include "gdbstub/inferior/registers.h"
#include "gdbstub/pads/pads.h"
#include "gdbstub/tracing/resume.h"
#include "gdbstub/stops/alone.h"
#include "gdbstub/run/interrupt.h"
#include "gdbstub/run/retired.h"
#include "gdbstub/run/under_counter.h"
#include "gdbstub/text/trap.h"
#include "gdbstub/breakpoints/watch.h"

/* What became of a resume. A thread that is being killed counts as running: its
 * end will be reported. */
static void resumed(struct thread *thread, int err)
{
	if (err == -ESRCH)
		thread->running = true;
	else if (err < 0)
		log_warning("thread %d cannot be resumed: %s", thread->tid,
			    strerror(-err));
}

/* Is it at a trap whose program runs at a single step? */
static bool is_at_program(struct thread *thread)
{
	const struct location *location;
	uint64_t pc;

	if (thread_get_pc(thread, &pc) < 0)
		return false;
	location = trap_at(thread->inferior, pc);
	return location && location->engine->ops->kernel_traps;
}

/* A program has decided about a hit before the access; others may have changed since
 * what it was about. */
static int continue_one(struct thread *thread, int signal)
{
	retired_note_run(thread);
	if (!thread->control->at_hit && watch_may_be_late(thread))
		return thread_continue_anew(thread, signal);
	return thread_continue(thread, signal);
}

/* How such a step ends depends on what is at its place now (events.c, ends_step): while
 * the thread was stopped, the client may have put a trap there or taken one out. */
static void note_step(struct thread *thread)
{
	thread->control->steps_program = is_at_program(thread);
	retired_note_step(thread);
}

static int step(struct thread *thread, int signal)
{
	note_step(thread);
	return thread_step(thread, signal);
}

/* A step of the client's. */
static int step_or_run(const struct run *run, struct thread *thread, int signal)
{
	if (thread->control->action.kind == RESUME_STEP &&
	    under_counter_begin(run, thread))
		return thread_continue(thread, signal);
	return step(thread, signal);
}

/* What counts has been read at the stop, and has to begin anew. */
static int resume_again(const struct run *run, struct thread *thread)
{
	if (thread->control->retired.runs)
		return step_or_run(run, thread, 0);
	if (thread->stepping)
		note_step(thread);
	else
		retired_note_run(thread);
	return thread_resume_again(thread, 0);
}

static int resume_by_action(const struct run *run, struct thread *thread)
{
	int signal = thread->control->action.signal;

	thread->control->action.signal = 0;
	if (thread->control->action.kind == RESUME_CONTINUE)
		return continue_one(thread, signal);
	return step_or_run(run, thread, signal);
}

void resuming_ask_again(const struct run *run, struct thread *thread)
{
	if (interrupt_is_for(run, thread) && thread->running)
		thread_interrupt(thread);
}

void resuming_thread(const struct run *run, struct thread *thread)
{
	enum resume_how how = thread->control->how;

	thread->control->how = RESUME_BY_ACTION;
	if (how != RESUME_LISTENING)
		pads_enter(thread, how == RESUME_BY_ACTION
					   ? thread->control->action.signal
					   : 0);
	if (how == RESUME_AGAIN)
		resumed(thread, resume_again(run, thread));
	else if (how == RESUME_LISTENING)
		resumed(thread, thread_listen(thread));
	else if (alone_is_stepping(run, thread))
		resumed(thread, step(thread, 0));
	else
		resumed(thread, resume_by_action(run, thread));
}
