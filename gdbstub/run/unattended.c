/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/run/unattended.h"

#include "gdbstub/tracing/inferiors.h"
#include "gdbstub/run/leave.h"
#include "gdbstub/stops/pending.h"
#include "gdbstub/run/proceed.h"
#include "gdbstub/breakpoints/breakpoints.h"

/* A child that the client wished to hear of, when it was still there. */
static void release_child(struct run *run, const struct thread *thread)
{
	struct inferior *child = inferior_find(
		&run->inferiors, thread->control->pending_stop->stop.child);

	if (child)
		leave_inferior(run, child, 0, 0);
}

/* Of a stop that nobody is to be told of, only the signal matters. */
static void pass(struct run *run, struct thread *thread)
{
	release_child(run, thread);
	pending_pass(thread);
}

/* The first one that has ended, or NULL. */
static struct inferior *ended(struct run *run)
{
	struct inferior *inferior;

	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		if (inferior->unattended && inferior->control->pending_stop)
			return inferior;
	}
	return NULL;
}

void unattended_go_on(struct run *run)
{
	struct inferior *inferior;
	struct thread *thread;

	if (!control_any_unattended(run))
		return;
	while ((inferior = ended(run))) {
		breakpoints_destroy(inferior->breakpoints, true);
		inferior_destroy(inferior);
	}
	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		if (!inferior->unattended)
			continue;
		FOREACH_THREAD (thread, inferior) {
			if (thread->control->pending_stop)
				pass(run, thread);
		}
	}
	proceed_all(run);
}
