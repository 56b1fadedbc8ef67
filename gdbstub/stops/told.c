/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/stops/told.h"

#include <signal.h>

#include "gdbstub/inferior/registers.h"
#include "gdbstub/breakpoints/breakpoints.h"
#include "gdbstub/locations/location.h"
#include "gdbstub/stops/next_stop.h"
#include "gdbstub/stops/stale.h"

/* Clients rely on it that a thread hits a software breakpoint again where it has
 * stopped at it. One in hardware would be passed. */
static void have_it_hit_again(const struct thread *thread, const struct stop *stop)
{
	const struct location *location = breakpoints_wanted(
		thread->inferior->breakpoints, BREAKPOINT_SOFTWARE, stop->addr);

	if (location && location->engine && location->engine->ops->by_slots)
		thread_hit_again(thread);
}

void told_note(struct thread *thread, const struct stop *stop)
{
	thread->control->told = *stop;
	thread->control->last_signal = stop->signal;
	thread->inferior->control->seen = true;
	if (stop->kind == STOP_SWBREAK)
		have_it_hit_again(thread, stop);
}

void told_forget(struct thread *thread)
{
	thread->control->told = (struct stop){.kind = STOP_NONE};
}

void told_give_reasons(struct run *run)
{
	const struct stop stop = {.kind = STOP_SIGNAL, .signal = SIGSTOP};
	struct inferior *inferior;
	struct thread *thread;

	TAILQ_FOREACH (inferior, &run->inferiors.list, link)
		FOREACH_THREAD (thread, inferior)
			if (thread->control->told.kind == STOP_NONE)
				thread->control->told = stop;
}

static bool can_be_told(struct run *run, struct thread *thread)
{
	const struct pending_stop *pending;

	if (thread->control->hidden || thread->inferior->control->hidden ||
	    thread->inferior->unattended)
		return false;
	stale_drop(run, thread);
	pending = thread->control->pending_stop;
	return pending &&
	       (pending->stop.kind == STOP_SIGNAL ||
		pending->stop.kind == STOP_SWBREAK ||
		pending->stop.kind == STOP_HWBREAK) &&
	       !pending->stop.looks;
}

/* A thread whose signal waits after its hit comes to the end of the list again, and is
 * told of that after the next resume. */
void told_take_rest(struct run *run)
{
	const struct thread_control *last = TAILQ_LAST(&run->has_pending, control_list);
	struct thread_control *control = TAILQ_FIRST(&run->has_pending);
	bool is_last = !control;

	while (!is_last) {
		struct thread_control *next = TAILQ_NEXT(control, has_pending);
		struct stop stop;

		is_last = control == last;
		if (can_be_told(run, control->thread)) {
			next_stop_take_of(run, control->thread, &stop);
			told_note(control->thread, &stop);
		}
		control = next;
	}
}
