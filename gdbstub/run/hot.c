/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/run/hot.h"

#include "gdbstub/locations/location.h"
#include "gdbstub/run/proceed.h"

/* Between two looks, ms: of a location that was cold before, less is to be expected. */
enum { SOON = 20, SELDOM = 1280 };

/* Others have nothing that a pad would make quicker. */
static bool any_uprobes(const struct run *run)
{
	const struct inferior *inferior;

	TAILQ_FOREACH (inferior, &run->inferiors.list, link) {
		if (inferior->breakpoints && inferior->breakpoints->uprobed)
			return true;
	}
	return false;
}

static bool are_wanted(const struct run *run)
{
	return run->running && run->engines.pads == PADS_AUTO &&
	       !run->engines.others_run && any_uprobes(run);
}

static void look(struct run *run)
{
	bool any = false;
	unsigned int cold = engines_note_hot(&run->engines, &any);

	if (cold == 0)
		run->hot_interval = -1;
	else if (run->hot_interval < SELDOM)
		run->hot_interval *= 2;
	if (!any)
		return;
	run->locations_move = true;
	proceed(run);
}

void hot_look(struct run *run)
{
	if (!are_wanted(run)) {
		run->hot_interval = 0;
		return;
	}
	if (run->hot_interval < 0)
		return;
	lateness_look(&run->hot_lateness);
	if (run->hot_interval > 0 && run->hot_lateness.waited < run->hot_interval)
		return;
	lateness_begin(&run->hot_lateness);
	if (run->hot_interval > 0)
		look(run);
	else
		run->hot_interval = SOON;
}

int hot_patience(const struct run *run)
{
	return are_wanted(run) && run->hot_interval > 0 ? run->hot_interval : -1;
}
