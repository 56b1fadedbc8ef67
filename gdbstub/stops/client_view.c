/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/stops/client_view.h"

#include "gdbstub/inferior/proc.h"
#include "gdbstub/inferior/thread_end.h"
#include "gdbstub/hits/look_after.h"
#include "gdbstub/stops/pending.h"
#include "gdbstub/hits/replay.h"

void client_view_acknowledge(struct run *run)
{
	run->unacknowledged = (struct stop){.kind = STOP_NONE};
}

bool client_view_is_right(const struct run *run, const struct thread *thread)
{
	const struct stop *stop = &run->unacknowledged;

	if (thread->inferior->control->hidden || thread->control->hidden ||
	    thread->control->untold)
		return false;
	if (stop->kind == STOP_NONE)
		return true;
	return thread->tid != stop->tid && thread->tid != stop->child &&
	       thread->inferior->pid != stop->child;
}

/* A leader that has ended before its threads will never stop. */
static bool is_resumed(const struct inferior *inferior)
{
	const struct thread *thread;

	FOREACH_THREAD (thread, inferior) {
		if (thread->control->action.kind != RESUME_NONE &&
		    !inferior->unattended &&
		    !(thread->running && thread_is_zombie(thread)))
			return true;
	}
	return false;
}

void client_view_reported(struct inferior *inferior)
{
	inferior->control->awaited = is_resumed(inferior);
}

bool client_view_any_resumed(const struct run *run)
{
	const struct inferior *inferior;

	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		if (is_resumed(inferior))
			return true;
	}
	return false;
}

void client_view_end(struct inferior *inferior)
{
	struct thread *thread;

	replay_end(inferior);
	FOREACH_THREAD (thread, inferior) {
		if (look_is_shown(thread))
			pending_clear(thread);
	}
}
