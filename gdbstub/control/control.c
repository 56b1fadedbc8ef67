/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/control/control.h"

#include <stdlib.h>

#include "gdbstub/control/ready.h"
#include "gdbstub/control/run_state.h"

static bool thread_made(struct thread *thread)
{
	thread->control = calloc(1, sizeof(*thread->control));
	if (!thread->control)
		return false;
	thread->control->thread = thread;
	thread->control->retired.signals_by = -1;
	return true;
}

static bool has_vfork_child(const struct thread_control *control)
{
	return control->lends_memory ||
	       (control->pending_stop &&
		control->pending_stop->stop.kind == STOP_VFORK);
}

static void thread_gone(struct thread *thread)
{
	struct thread_control *control = take_ptr(thread->control);
	struct inferior *inferior = thread->inferior;
	struct run *run = inferior->owner->controller;

	/* It cannot end before its vfork child is done, unless all its process does. */
	if (has_vfork_child(control) && thread->group == inferior->pid)
		inferior->control->lends_for_good = true;
	ready_forget(run, control);
	if (control->pending_stop)
		TAILQ_REMOVE(&run->has_pending, control, has_pending);
	counter_end(&control->retired.counter);
	free(control->pending_stop);
	free(control->last_hit);
	free(control->look);
	free(control);
}

static bool inferior_made(struct inferior *inferior)
{
	inferior->control = calloc(1, sizeof(*inferior->control));
	return inferior->control != NULL;
}

static void inferior_gone(struct inferior *inferior)
{
	struct inferior_control *control = take_ptr(inferior->control);

	free(control->pending_stop);
	free(control->replay);
	free(control);
}

void control_init(struct run *run)
{
	static const struct control_hooks hooks = {
		.thread_made = thread_made,
		.thread_gone = thread_gone,
		.inferior_made = inferior_made,
		.inferior_gone = inferior_gone,
	};

	TAILQ_INIT(&run->has_pending);
	TAILQ_INIT(&run->ready);
	TAILQ_INIT(&run->lendings);
	run->inferiors.hooks = &hooks;
	run->inferiors.controller = run;
}

bool control_any_unattended(const struct run *run)
{
	const struct inferior *inferior;

	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		if (inferior->unattended)
			return true;
	}
	return false;
}

const struct output *control_output(const struct run *run,
				    const struct inferior *inferior)
{
	return inferior->unattended ? &run->own_output : &run->output;
}
