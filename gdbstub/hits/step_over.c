/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/hits/step_over.h"

#include "gdbstub/inferior/registers.h"
#include "gdbstub/locations/carrier.h"
#include "gdbstub/breakpoints/commit.h"
#include "gdbstub/locations/index.h"
#include "gdbstub/locations/location.h"
#include "gdbstub/hits/look_after.h"
#include "gdbstub/breakpoints/share.h"
#include "gdbstub/text/trap.h"
#include "gdbstub/text/traps.h"
#include "gdbstub/control/control.h"

static bool repeats(const struct location *location)
{
	const struct location *carrier = share_carrier(location);

	return location->state == LOCATION_IN &&
	       (carrier ? carrier : location)->engine->ops->hits_repeat &&
	       location->inferior->arch->debugreg_hits_repeat;
}

static struct location *find(const struct thread *thread, unsigned int number)
{
	return index_number(thread->inferior->breakpoints, number);
}

static bool is_noted(const struct thread *thread, unsigned int number)
{
	for (unsigned int i = 0; i < thread->control->hits_in_vain; i++) {
		if (thread->control->hit_in_vain[i] == number)
			return true;
	}
	return false;
}

static void note(struct thread *thread, const struct location *location)
{
	uint64_t pc;

	if (thread_get_pc(thread, &pc) < 0)
		return;
	if (!thread->control->needs_step_over || pc != thread->control->step_over_at) {
		thread->control->trap_in_vain = false;
		thread->control->hits_in_vain = 0;
	}
	thread->control->needs_step_over = true;
	thread->control->step_over_at = pc;
	/* A trap is found by its place. */
	if (location->trap)
		thread->control->trap_in_vain = true;
	else if (!is_noted(thread, location->number) &&
		 thread->control->hits_in_vain < HITS_IN_VAIN_MAX)
		thread->control->hit_in_vain[thread->control->hits_in_vain++] =
			location->number;
}

/* Nobody is in the way of a thread that goes on in the pad, after the trap. Of a
 * location that moves, the pad goes: it does so after a step over it, with all others
 * halted. */
void step_over_want(struct thread *thread, const struct location *location)
{
	if (location->trap && trap_is_jump(location)) {
		bool stays = !location_is_outdated(location);

		thread->passed_at = stays ? location->addr : 0;
		if (stays)
			return;
	}
	if (location->trap || repeats(location))
		note(thread, location);
}

void step_over_look(struct thread *thread, const struct location *location)
{
	note(thread, location);
}

static bool comes_again(const struct thread *thread, const struct location *location)
{
	return repeats(location) ||
	       (look_is_wanted(thread) && location->state == LOCATION_IN);
}

static bool is_in_the_way(const struct thread *thread, uint64_t pc)
{
	if (thread->control->trap_in_vain && trap_at(thread->inferior, pc))
		return true;
	for (unsigned int i = 0; i < thread->control->hits_in_vain; i++) {
		const struct location *location =
			find(thread, thread->control->hit_in_vain[i]);

		if (location && comes_again(thread, location))
			return true;
	}
	return false;
}

bool step_over_is_needed(struct thread *thread)
{
	uint64_t pc;

	if (!thread->control->needs_step_over)
		return false;
	/* A signal goes first: of a fault it is the only way on, and the step could
	 * meet another one. The hit comes anew when the handler returns. */
	if (thread->control->action.signal != 0 || thread_get_pc(thread, &pc) < 0 ||
	    pc != thread->control->step_over_at || !is_in_the_way(thread, pc)) {
		thread->control->needs_step_over = false;
		if (look_is_wanted(thread))
			look_forget(thread);
	}
	return thread->control->needs_step_over;
}

struct error *step_over_lift(struct thread *thread)
{
	struct error *error = NULL;

	look_note_memory(thread);
	/* One that hardware has kept the thread from is still to be hit. */
	if (thread->control->trap_in_vain)
		error = breakpoints_lift_traps(thread->inferior->breakpoints,
					       thread->control->step_over_at, false);
	for (unsigned int i = 0; !error && i < thread->control->hits_in_vain; i++) {
		struct location *location =
			find(thread, thread->control->hit_in_vain[i]);

		if (location && comes_again(thread, location))
			error = location_switch(location, LOCATION_SUSPENDED);
	}
	return error;
}
