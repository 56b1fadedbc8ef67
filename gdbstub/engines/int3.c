/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The int3 engine: the processor's breakpoint instruction, written over the
 * program's text through ptrace. Without limit in number, works anywhere, but
 * every hit stops the thread, and text is changed while the location is in.
 */
#include <errno.h>
#include <string.h>

#include "gdbstub/base/log.h"
#include "gdbstub/locations/engine.h"
#include "gdbstub/text/trap.h"

static struct error *int3_probe(struct engine *engine)
{
	engine->state = NULL; /* whoever may trace may write text */
	return NULL;
}

static void int3_deinit(struct engine *engine)
{
	engine->state = NULL;
}

static struct error *int3_insert(struct engine *engine, struct location *location)
{
	struct error *error = NULL;
	int err;

	(void)engine;
	if (location->type != BREAKPOINT_SOFTWARE)
		return error_create(EOPNOTSUPP,
				    "int3 serves software breakpoints only");
	err = trap_note(location);
	if (err < 0)
		return error_create(-err, "cannot read the instruction at 0x%jx",
				    (uintmax_t)location->addr);
	err = trap_plant(location);
	if (err < 0) {
		error = error_create(-err, "cannot write a trap at 0x%jx",
				     (uintmax_t)location->addr);
		trap_forget(location);
	}
	return error;
}

static void int3_remove(struct engine *engine, struct location *location, bool gone)
{
	int err = 0;

	(void)engine;
	if (!gone && location->state == LOCATION_IN)
		err = trap_lift(location);
	if (err < 0)
		log_debug(LOG_STOPS, "trap at 0x%jx not taken out: %s",
			  (uintmax_t)location->addr, strerror(-err));
	trap_forget(location);
}

static int int3_suspend(struct engine *engine, struct location *location)
{
	(void)engine;
	return trap_lift(location);
}

static int int3_resume(struct engine *engine, struct location *location)
{
	(void)engine;
	return trap_plant(location);
}

static bool int3_intact(struct engine *engine, const struct location *location)
{
	(void)engine;
	return trap_is_planted(location);
}

static void int3_on_stop(struct engine *engine, const struct event *event,
			 struct hits *hits)
{
	struct location *location =
		hits->count < HITS_MAX ? trap_executed(event, engine) : NULL;

	if (!location)
		return;
	hits->hit[hits->count++] =
		(struct hit){.location = location, .verdict = HIT_PLAIN};
	hits->signal_is_ours = true;
}

static void int3_describe(struct engine *engine, const struct location *location,
			  struct buffer *out)
{
	(void)engine;
	buffer_append_string(out, location->conditions.count ? "stub" : "-");
}

const struct engine_ops int3_engine = {
	.name = "int3",
	.title = "software traps in the program's text; conditions in the stub",
	.own_traps = true,
	.probe = int3_probe,
	.deinit = int3_deinit,
	.insert = int3_insert,
	.remove = int3_remove,
	.suspend = int3_suspend,
	.resume = int3_resume,
	.intact = int3_intact,
	.on_stop = int3_on_stop,
	.describe = int3_describe,
};
