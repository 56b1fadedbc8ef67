/* SPDX-License-Identifier: BSD-2-Clause */
#include "stops/unattended.h"

#include "inferior/inferiors.h"
#include "stops/halt.h"
#include "stops/life.h"
#include "stops/nonstop.h"
#include "stops/pending.h"
#include "stops/proceed.h"

bool unattended_any(const struct run *run)
{
	const struct inferior *inferior;

	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		if (inferior->unattended)
			return true;
	}
	return false;
}

const struct output *run_output(const struct run *run, const struct inferior *inferior)
{
	return inferior->unattended ? &run->own_output : &run->output;
}

/* A child that the client wished to hear of, when it was still there. */
static void release_child(struct run *run, const struct thread *thread)
{
	struct inferior *child = inferior_find(
		&run->inferiors, thread->control->pending_stop->stop.child);

	if (child)
		life_leave(run, child, 0, 0);
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

	if (!unattended_any(run))
		return;
	while ((inferior = ended(run))) {
		breakpoints_destroy(inferior->breakpoints, true);
		inferior_destroy(inferior);
	}
	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		if (!inferior->unattended)
			continue;
		TAILQ_FOREACH (thread, &inferior->threads, link) {
			if (thread->control->pending_stop)
				pass(run, thread);
		}
	}
	proceed_all(run);
}

struct error *run_leave(struct run *run, struct inferior *inferior)
{
	struct thread *thread;
	struct error *error;

	if (!run->non_stop)
		run_halt(run);
	halt_all(run);
	breakpoints_remove_all(inferior->breakpoints);
	inferior->control->hidden = true;
	inferior->unattended = true;
	TAILQ_FOREACH (thread, &inferior->threads, link) {
		thread->control->action =
			(struct resume_action){.kind = RESUME_CONTINUE};
		thread->control->fresh = true;
	}
	error = run_resume(run);
	run->running = run->non_stop && nonstop_any_resumed(run);
	return error;
}

void run_rejoin(struct run *run)
{
	struct inferior *inferior;

	if (!unattended_any(run))
		return;
	halt_all(run);
	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		if (!inferior->unattended)
			continue;
		inferior->control->hidden = false;
		inferior->unattended = false;
	}
	run->running = true;
	run_halt(run);
}
