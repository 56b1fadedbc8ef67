/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/run/nonstop.h"

#include "gdbstub/stops/client_view.h"
#include "gdbstub/stops/pending.h"

/* A stop that the client has asked for is none that it has to hear of later. */
static void forget_request(struct thread *thread)
{
	const struct pending_stop *pending = thread->control->pending_stop;

	thread->control->untold = false;
	thread->control->passed_over = false;
	if (pending && pending->stop.kind == STOP_SIGNAL && pending->stop.signal == 0)
		pending_clear(thread);
}

static void forget_requests(struct run *run)
{
	struct inferior *inferior;
	struct thread *thread;

	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		FOREACH_THREAD (thread, inferior)
			forget_request(thread);
	}
}

void run_set_non_stop(struct run *run, bool on)
{
	struct stop last = run->last;

	if (on == run->non_stop)
		return;
	if (!on) {
		run_halt(run);
		forget_requests(run);
		client_view_acknowledge(run);
		run->last = last;
	}
	run->non_stop = on;
	run->engines.others_run = on;
}

static void pass_over(struct inferior *inferior)
{
	struct thread *thread;

	FOREACH_THREAD (thread, inferior) {
		thread->control->untold = false;
		thread->control->passed_over =
			!inferior->control->hidden && !thread->control->hidden &&
			thread_is_held(thread) &&
			thread->control->action.kind == RESUME_NONE;
	}
}

/* The thread that stopped last, or any; NULL: none has stopped. */
static struct thread *first_passed_over(struct run *run)
{
	struct inferior *inferior;
	struct thread *thread, *first = NULL;

	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		FOREACH_THREAD (thread, inferior) {
			if (thread->control->passed_over &&
			    (!first || thread->tid == run->last.tid))
				first = thread;
		}
	}
	return first;
}

/* Of a process that no client has seen stopped yet, only the first thread is. */
static void let_others_run(struct run *run, struct inferior *inferior)
{
	struct thread *thread;

	FOREACH_THREAD (thread, inferior) {
		if (!inferior->control->seen && thread->control->passed_over)
			run_set_action(run, thread,
				       (struct resume_action){.kind = RESUME_CONTINUE});
	}
	inferior->control->seen = true;
}

/*
 * No gdb (13, 16, 18) survives to be told of a second stop before it has connected,
 * be it by vStopped or by a notification: it fails an assertion of its own. It takes
 * the threads that it is not told of for running. As with gdbserver, those of a
 * process just attached to do run; what a former client has left stopped stays so.
 */
struct error *run_tell_first(struct run *run)
{
	struct inferior *inferior;
	struct thread *first;

	client_view_acknowledge(run);
	TAILQ_FOREACH (inferior, &run->inferiors.list, link)
		pass_over(inferior);
	first = first_passed_over(run);
	if (first) {
		first->control->passed_over = false;
		first->control->untold = run->any_untold = true;
	}
	TAILQ_FOREACH (inferior, &run->inferiors.list, link)
		let_others_run(run, inferior);
	return first ? run_resume(run) : NULL;
}
