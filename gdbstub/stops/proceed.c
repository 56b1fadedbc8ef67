/* SPDX-License-Identifier: BSD-2-Clause */
#include "stops/proceed.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "inferior/registers.h"
#include "inferior/resume.h"
#include "inferior/thread.h"
#include "stops/commit.h"
#include "stops/halt.h"
#include "stops/interrupt.h"
#include "stops/pending.h"
#include "stops/step_over.h"
#include "stops/trap.h"
#include "stops/watch.h"

/* ---- one thread ---- */

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
	if (!thread->control->at_hit && watch_may_be_late(thread))
		return thread_continue_anew(thread, signal);
	return thread_continue(thread, signal);
}

static void resume_one(struct thread *thread)
{
	int signal = thread->control->action.signal;

	thread->control->action.signal = 0;
	if (thread->control->action.kind == RESUME_CONTINUE) {
		resumed(thread, continue_one(thread, signal));
	} else {
		thread->control->steps_program = is_at_program(thread);
		resumed(thread, thread_step(thread, signal));
	}
}

/* The kernel forgets an interrupt when a thread stops for something else. */
static void renew_interrupt(const struct run *run, struct thread *thread)
{
	if (interrupt_is_for(run, thread) && thread->running)
		thread_interrupt(thread);
}

void proceed_listening(struct thread *thread)
{
	resumed(thread, thread_listen(thread));
}

/* ---- who may run ---- */

/* Of a process that has ended, nothing is left to run. */
static bool is_ready(const struct thread *thread)
{
	return !thread->running && !thread->control->pending_stop &&
	       !thread->inferior->control->pending_stop &&
	       thread->control->action.kind != RESUME_NONE &&
	       thread->control->action.kind != RESUME_STOP;
}

/* May this thread run now, when some thread may have to run alone? */
static bool may_run(const struct run *run, const struct thread *thread)
{
	if (run->halting || !is_ready(thread))
		return false;
	if (run->stepping_over)
		return run->stepping_over == thread->tid;
	return thread->inferior->lenders == 0 || thread->control->lends_memory;
}

/* In all-stop mode, a stop to report is one for everybody. */
static bool is_stopping(const struct run *run)
{
	return !run->non_stop && pending_any(run);
}

/* The client asked this thread to stop (vCont;t), and it has just done so. */
static bool stops_on_request(struct run *run, struct thread *thread)
{
	if (!thread->control->stop_requested || thread->running)
		return false;
	pending_set(run, thread, (struct stop){.kind = STOP_SIGNAL, .signal = 0});
	return true;
}

/* ---- stepping over ---- */

/* What nobody wants to hear of is no reason not to go on. */
static void pass_pending_signals(const struct run *run)
{
	struct inferior *inferior;
	struct thread *thread;

	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		TAILQ_FOREACH (thread, &inferior->threads, link)
			pending_pass_signal(run, thread);
	}
}

static void step_over(struct run *run, struct thread *thread)
{
	_cleanup_error_ struct error *error = NULL;
	pid_t tid = thread->tid;

	/* No other thread may run through the place while nothing is there. */
	halt_for_step(run);
	pass_pending_signals(run);
	if (is_stopping(run))
		return;
	thread = thread_find(&run->inferiors, tid);
	if (!thread) { /* killed meanwhile: the others go on without it */
		proceed_all(run);
		return;
	}
	error = step_over_lift(thread);
	if (error)
		log_warning("%s", error_text(error));
	run->stepping_over = tid;
	resumed(thread, thread_step(thread, 0));
	renew_interrupt(run, thread);
}

void proceed_with_traps(struct run *run, struct inferior *inferior)
{
	struct inferior *other;

	TAILQ_FOREACH (other, &run->inferiors.list, link) {
		_cleanup_error_ struct error *error = NULL;

		if (other->breakpoints &&
		    (other == inferior || !other->control->hidden) &&
		    inferior_shares_memory(other, inferior))
			error = breakpoints_commit(other->breakpoints, true);
		if (error)
			log_warning("%s", error_text(error));
	}
}

void proceed_together(struct run *run, struct inferior *inferior)
{
	run->stepping_over = 0;
	proceed_with_traps(run, inferior);
}

void proceed_alone(struct run *run, struct thread *thread)
{
	resume_one(thread);
	renew_interrupt(run, thread);
}

/* ---- all of them ---- */

void proceed_all(struct run *run)
{
	struct inferior *inferior;
	struct thread *thread;

	if (is_stopping(run))
		return;
	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		TAILQ_FOREACH (thread, &inferior->threads, link) {
			if (may_run(run, thread) && !stops_on_request(run, thread) &&
			    step_over_is_needed(thread)) {
				step_over(run, thread);
				return;
			}
		}
	}
	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		TAILQ_FOREACH (thread, &inferior->threads, link) {
			if (may_run(run, thread))
				resume_one(thread);
		}
	}
}

void proceed_thread(struct run *run, struct thread *thread)
{
	if (!may_run(run, thread) || stops_on_request(run, thread))
		return;
	if (run->stepping_over != thread->tid && step_over_is_needed(thread)) {
		step_over(run, thread);
		return;
	}
	if (run->stepping_over == thread->tid)
		resumed(thread, thread_step(thread, 0));
	else
		resume_one(thread);
	renew_interrupt(run, thread);
}
