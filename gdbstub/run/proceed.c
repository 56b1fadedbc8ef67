/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/run/proceed.h"

#include "gdbstub/base/log.h"
#include "gdbstub/inferior/thread.h"
#include "gdbstub/stops/alone.h"
#include "gdbstub/run/halt.h"
#include "gdbstub/stops/next_stop.h"
#include "gdbstub/stops/pending.h"
#include "gdbstub/control/ready.h"
#include "gdbstub/run/resuming.h"
#include "gdbstub/hits/step_over.h"

/* ---- who may run ---- */

/* Of a process that has ended, nothing is left to run. */
static bool is_resumed(const struct thread *thread)
{
	return !thread->running && !thread->control->pending_stop &&
	       !thread->inferior->control->pending_stop &&
	       thread->control->action.kind != RESUME_NONE &&
	       thread->control->action.kind != RESUME_STOP;
}

/* The client asked this thread to stop (vCont;t), and it has just done so. */
static bool stops_on_request(struct run *run, struct thread *thread)
{
	if (!thread->control->stop_requested)
		return false;
	pending_set(run, thread, (struct stop){.kind = STOP_SIGNAL, .signal = 0});
	return true;
}

static bool may_run(struct run *run, struct thread *thread)
{
	return is_resumed(thread) && alone_lets_run(run, thread) &&
	       !stops_on_request(run, thread);
}

/* In all-stop mode, a stop to report is one for everybody. */
static bool is_stopping(const struct run *run)
{
	return !run->non_stop && run->running && next_stop_any(run);
}

/* ---- stepping over ---- */

static bool must_step_over(struct run *run, struct thread *thread)
{
	return may_run(run, thread) && thread->control->how == RESUME_BY_ACTION &&
	       !alone_is_stepping(run, thread) && step_over_is_needed(thread);
}

/* The first of those that may go on, or NULL. */
static struct thread *first_to_step_over(struct run *run)
{
	struct inferior *inferior;
	struct thread_control *control;
	struct thread *thread;

	if (!run->all_ready) {
		TAILQ_FOREACH (control, &run->ready, ready)
			if (must_step_over(run, control->thread))
				return control->thread;
		return NULL;
	}
	TAILQ_FOREACH (inferior, &run->inferiors.list, link)
		FOREACH_THREAD (thread, inferior)
			if (must_step_over(run, thread))
				return thread;
	return NULL;
}

/* What nobody wants to hear of is no reason not to go on. */
static void pass_pending_signals(const struct run *run)
{
	struct inferior *inferior;
	struct thread *thread;

	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		FOREACH_THREAD (thread, inferior)
			pending_pass_signal(run, thread);
	}
}

/* What the halt has brought and the client does not want to hear of is passed on, as it
 * would have been without one. */
static void halt_to_proceed(struct run *run)
{
	halt_threads(run);
	ready_note_all(run);
	pass_pending_signals(run);
}

/* Nobody else may run through the place while nothing is there. What the halt has
 * brought goes first: then all is as before. */
static void step_over(struct run *run, struct thread *thread)
{
	_cleanup_error_ struct error *error = NULL;
	pid_t tid = thread->tid;

	halt_to_proceed(run);
	thread = thread_find(&run->inferiors, tid);
	if (!thread || is_stopping(run) || halt_has_work(run))
		return;
	error = step_over_lift(thread);
	if (error)
		log_warning("%s", error_text(error));
	alone_begin_step(run, thread);
	resuming_thread(run, thread);
	resuming_ask_again(run, thread);
}

/* ---- all of them ---- */

static void resume_all(struct run *run)
{
	struct inferior *inferior;
	struct thread *thread;

	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		FOREACH_THREAD (thread, inferior)
			if (may_run(run, thread))
				resuming_thread(run, thread);
	}
}

static void resume_ready(struct run *run)
{
	struct thread_control *control;

	while ((control = TAILQ_FIRST(&run->ready))) {
		ready_forget(run, control);
		if (!may_run(run, control->thread))
			continue;
		resuming_thread(run, control->thread);
		resuming_ask_again(run, control->thread);
	}
}

void proceed(struct run *run)
{
	struct thread *thread;

	alone_put_back(run);
	while (!is_stopping(run)) {
		if (halt_has_work(run)) {
			halt_to_proceed(run);
			halt_settle(run);
		} else if ((thread = first_to_step_over(run))) {
			step_over(run, thread);
		} else {
			resume_ready(run);
			if (run->all_ready)
				resume_all(run);
			run->all_ready = false;
			return;
		}
	}
}

void proceed_all(struct run *run)
{
	ready_note_all(run);
	pass_pending_signals(run);
	proceed(run);
}
