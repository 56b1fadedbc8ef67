/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/stops/ahead.h"

#include <time.h>

#include "gdbstub/inferior/thread.h"
#include "gdbstub/stops/next_stop.h"

enum {
	CROWD = 8, /* others, from which on it is worth it */
	/* us: */
	STEP = 2000,	     /* a step that takes longer lasts */
	SLICE = 2000,	     /* the others run alone for so long */
	PATIENCE = 20000,    /* they wait for so long in all, */
	PATIENCE_EACH = 150, /* ... and so much longer for each of them, whom to resume
			      * and to halt takes about a fifth of it */
	TURN_MAX = 5000, /* a user who thinks between two steps keeps nobody waiting */
};

static int64_t now_us(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

static bool is_step(const struct thread *thread)
{
	return thread->control->action.kind == RESUME_STEP ||
	       thread->control->action.kind == RESUME_RANGE;
}

/* The only one that is to step, while all others continue with nothing else to do.
 * *others: how many they are. */
static struct thread *find_stepping(struct run *run, unsigned int *others)
{
	struct inferior *inferior;
	struct thread *thread, *found = NULL;

	*others = 0;
	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		if (inferior->unattended || inferior->lenders > 0)
			return NULL;
		FOREACH_THREAD (thread, inferior) {
			const struct resume_action *action = &thread->control->action;

			if (is_step(thread) && !found)
				found = thread;
			else if (is_step(thread) || action->signal != 0)
				return NULL;
			else
				*others += action->kind == RESUME_CONTINUE;
		}
	}
	return found;
}

static bool may_be_alone(const struct run *run, const struct thread *stepping)
{
	return !stepping->running && !run->interrupt_requested && !run->any_orphans &&
	       TAILQ_EMPTY(&run->lendings) && !next_stop_any(run);
}

void ahead_begin(struct run *run)
{
	struct ahead *ahead = &run->ahead;
	const int64_t now = now_us(), turn = now - ahead->resumed;
	unsigned int others;
	struct thread *stepping = find_stepping(run, &others);

	ahead_forget(run);
	ahead->resumed = now;
	if (!stepping || others < CROWD || !may_be_alone(run, stepping)) {
		ahead->waited = 0;
		return;
	}
	ahead->waited += turn < TURN_MAX ? turn : TURN_MAX;
	ahead->tid = stepping->tid;
	ahead->last = ahead->waited > PATIENCE + (int64_t)PATIENCE_EACH * others;
	if (ahead->last)
		ahead->waited = 0;
}

bool ahead_look(struct run *run)
{
	struct ahead *ahead = &run->ahead;
	int64_t now;

	if (ahead->tid == 0)
		return false;
	now = now_us();
	if (ahead->until == 0)
		ahead->until = now + (ahead->last ? SLICE : STEP);
	if (now < ahead->until && thread_find(&run->inferiors, ahead->tid))
		return false;
	ahead_forget(run);
	ahead->waited = 0;
	return true;
}

/* Less than a ms would be none. */
int ahead_patience(const struct run *run)
{
	return run->ahead.tid == 0 ? -1 : 1;
}

void ahead_forget(struct run *run)
{
	run->ahead.tid = 0;
	run->ahead.until = 0;
}
