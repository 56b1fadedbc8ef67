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

static bool hit_is_stale(struct thread *thread, enum breakpoint_type type,
			 uint64_t addr)
{
	struct location *location =
		breakpoints_wanted(thread->inferior->breakpoints, type, addr);
	uint64_t pc;

	if (!location)
		return true;
	if (type <= BREAKPOINT_HARDWARE &&
	    (thread_get_pc(thread, &pc) < 0 || pc != addr))
		return true;
	return hit_is_ignored(thread, location);
}

static void drop_stale_others(struct thread *thread, struct stop *stop)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < stop->nothers; i++) {
		if (!hit_is_stale(thread, stop->others[i].type, stop->others[i].addr))
			stop->others[kept++] = stop->others[i];
	}
	stop->nothers = kept;
}

/* The last of the others takes the place of the one that is gone. */
static bool promote_other(struct stop *stop)
{
	const struct watch_hit *other;

	if (stop->nothers == 0)
		return false;
	other = &stop->others[--stop->nothers];
	stop->watch = other->type;
	stop->addr = other->addr;
	stop->values = other->values;
	return true;
}

/* The stop is about those watchpoints that are left. */
static bool watches_are_stale(struct thread *thread, struct stop *stop)
{
	drop_stale_others(thread, stop);
	return hit_is_stale(thread, stop->watch, stop->addr) && !promote_other(stop);
}

/* Is a stop of its thread's nothing to its client any more? The client makes the step
 * that it has been promised (look_after.h), or does without. */
static bool is_stale(struct thread *thread, struct pending_stop *pending)
{
	struct stop *stop = &pending->stop;

	if (look_is_shown(thread) || pending->step_ended)
		return thread->control->action.kind == RESUME_CONTINUE;
	switch (stop->kind) {
	case STOP_SWBREAK:
		return hit_is_stale(thread, BREAKPOINT_SOFTWARE, stop->addr);
	case STOP_HWBREAK:
		return hit_is_stale(thread, BREAKPOINT_HARDWARE, stop->addr);
	case STOP_WATCH:
		return watches_are_stale(thread, stop);
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
