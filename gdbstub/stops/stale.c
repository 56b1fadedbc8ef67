/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/stops/stale.h"

#include "gdbstub/inferior/registers.h"
#include "gdbstub/locations/ignore.h"
#include "gdbstub/hits/look_after.h"
#include "gdbstub/stops/pending.h"
#include "gdbstub/hits/step_over.h"
#include "gdbstub/text/trap.h"
#include "gdbstub/breakpoints/watch.h"

/* The gate is open while hits become pending, so it was closed since: the hit, which
 * nobody has been told of, is one of the next. */
static bool hit_is_ignored(struct thread *thread, struct location *location)
{
	struct gate *gate = ignore_gate(location);

	/* Of those that only one passes, it is that one. */
	if (gate_is_spent(gate) || !gate_ignores(gate))
		return false;
	watch_ignored(location);
	if (look_has_ended(thread))
		return true; /* it is after the access */
	if (!location->trap || !trap_skip_own(thread))
		step_over_want(thread, location);
	return true;
}

static bool hit_is_stale(struct thread *thread, const struct stop *stop,
			 enum breakpoint_type type)
{
	struct location *location =
		breakpoints_wanted(thread->inferior->breakpoints, type, stop->addr);
	uint64_t pc;

	if (!location)
		return true;
	if (type <= BREAKPOINT_HARDWARE &&
	    (thread_get_pc(thread, &pc) < 0 || pc != stop->addr))
		return true;
	return hit_is_ignored(thread, location);
}

/* Is a stop of its thread's nothing to its client any more? The client makes the step
 * that it has been promised (look_after.h), or does without. */
static bool is_stale(struct thread *thread, const struct pending_stop *pending)
{
	const struct stop *stop = &pending->stop;

	if (look_is_shown(thread) || pending->step_ended)
		return thread->control->action.kind == RESUME_CONTINUE;
	switch (stop->kind) {
	case STOP_SWBREAK:
		return hit_is_stale(thread, stop, BREAKPOINT_SOFTWARE);
	case STOP_HWBREAK:
		return hit_is_stale(thread, stop, BREAKPOINT_HARDWARE);
	case STOP_WATCH:
		return hit_is_stale(thread, stop, stop->watch);
	case STOP_SYSCALL_ENTRY:
	case STOP_SYSCALL_RETURN:
		return !syscalls_wanted(&thread->inferior->syscalls, stop->syscall);
	default:
		return false;
	}
}

void stale_drop(struct run *run, struct thread *thread)
{
	if (!thread->control->pending_stop ||
	    !is_stale(thread, thread->control->pending_stop))
		return;
	pending_clear(thread);
	if (thread->pending.kind != EVENT_NONE)
		pending_set_signal(run, &thread->pending);
}
