/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/stops/alone.h"

#include "gdbstub/base/log.h"
#include "gdbstub/tracing/inferiors.h"
#include "gdbstub/breakpoints/commit.h"

bool alone_lets_run(const struct run *run, const struct thread *thread)
{
	if (run->stepping_over)
		return run->stepping_over == thread->tid;
	if (run->ahead.tid && (run->ahead.tid == thread->tid) == run->ahead.last)
		return false;
	return thread->control->lends_memory ||
	       !inferior_lends_memory(thread->inferior);
}

/* ---- steps ---- */

void alone_begin_step(struct run *run, const struct thread *thread)
{
	run->stepping_over = thread->tid;
}

bool alone_is_stepping(const struct run *run, const struct thread *thread)
{
	return run->stepping_over == thread->tid;
}

void alone_end_step(struct run *run, struct inferior *inferior)
{
	run->stepping_over = 0;
	alone_want_back(run, inferior);
}

void alone_forget_step(struct run *run)
{
	run->stepping_over = 0;
}

/* ---- lending ---- */

void alone_begin_lending(struct thread *thread)
{
	if (thread->control->lends_memory)
		return;
	thread->control->lends_memory = true;
	thread->inferior->lenders++;
}

void alone_end_lending(struct run *run, struct thread *thread)
{
	if (!thread->control->lends_memory)
		return;
	thread->control->lends_memory = false;
	if (--thread->inferior->lenders == 0)
		alone_want_back(run, thread->inferior);
}

void alone_lend_for_good(struct inferior *inferior)
{
	inferior->lenders += !inferior->control->lends_for_good;
	inferior->control->lends_for_good = true;
}

void alone_count_lenders(struct run *run, struct inferior *inferior)
{
	const struct thread *thread;
	bool lent = inferior->lenders > 0;

	inferior->lenders = inferior->control->lends_for_good;
	FOREACH_THREAD (thread, inferior)
		inferior->lenders += thread->control->lends_memory;
	if (lent && inferior->lenders == 0)
		alone_want_back(run, inferior);
}

void alone_forget_lenders(struct inferior *inferior)
{
	struct thread *thread;

	inferior->lenders = 0;
	inferior->control->lends_for_good = false;
	FOREACH_THREAD (thread, inferior)
		thread->control->lends_memory = false;
}

/* ---- traps ---- */

void alone_want_back(struct run *run, struct inferior *inferior)
{
	inferior->control->traps_away = run->traps_away = true;
}

/* Also into that of others, if it is the same. */
static void put_back(const struct inferior *inferior)
{
	_cleanup_error_ struct error *error = NULL;

	if (inferior->breakpoints && !inferior->control->pending_stop)
		error = breakpoints_commit(inferior->breakpoints, true);
	if (error)
		log_warning("%s", error_text(error));
}

void alone_put_back(struct run *run)
{
	struct inferior *inferior;

	if (!run->traps_away)
		return;
	run->traps_away = false;
	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		if (!inferior->control->traps_away)
			continue;
		inferior->control->traps_away = false;
		put_back(inferior);
	}
}
