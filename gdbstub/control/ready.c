/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/control/ready.h"

void ready_note(struct run *run, struct thread *thread)
{
	struct thread_control *control = thread->control;

	if (control->is_ready)
		return;
	control->is_ready = true;
	TAILQ_INSERT_TAIL(&run->ready, control, ready);
}

void ready_note_how(struct run *run, struct thread *thread, enum resume_how how)
{
	thread->control->how = how;
	ready_note(run, thread);
}

void ready_note_all(struct run *run)
{
	run->all_ready = true;
}

void ready_forget(struct run *run, struct thread_control *control)
{
	if (!control->is_ready)
		return;
	control->is_ready = false;
	TAILQ_REMOVE(&run->ready, control, ready);
}

void ready_clear(struct run *run)
{
	struct thread_control *control;

	while ((control = TAILQ_FIRST(&run->ready)))
		ready_forget(run, control);
	run->all_ready = false;
}
