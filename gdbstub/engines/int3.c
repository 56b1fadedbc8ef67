/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The int3 engine: the processor's breakpoint instruction, written over the
 * program's text through ptrace, or in a pad (pads.h). Without limit in number, works
 * anywhere, but every hit stops the thread that no filter has found to be false, and
 * text is changed while the location is in.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/base/log.h"
#include "gdbstub/inferior/memory.h"
#include "gdbstub/locations/engine.h"
#include "gdbstub/pads/location_pad.h"
#include "gdbstub/text/trap.h"
#include "gdbstub/breakpoints/watch.h"

static struct error *int3_probe(struct engine *engine)
{
	engine->state = NULL; /* whoever may trace may write text */
	return NULL;
}

static void int3_deinit(struct engine *engine)
{
	engine->state = NULL;
}

/* ---- where the trap is ---- */

static struct location_pad *pad_of(const struct location *location)
{
	return location->engine_data;
}

static int write_in_pad(const struct location *location, const uint8_t *code)
{
	const struct pad *pad = &pad_of(location)->site->pad;

	return inferior_write(location->inferior, pad->addr + pad->trap, code,
			      location->inferior->arch->breakpoint_len);
}

/* In its pad, or in the text. */
static int plant(struct location *location)
{
	struct location_pad *pad = pad_of(location);
	int err;

	if (!pad->site)
		return trap_plant(location);
	err = write_in_pad(location, location->inferior->arch->breakpoint_insn);
	if (err < 0)
		return err;
	return location_pad_plant(pad, location) ? 0 : -EFAULT;
}

/* Who is in the pad, asleep where nobody can stop him, is to meet no trap. */
static void forget(struct location *location, bool gone)
{
	struct location_pad *pad = pad_of(location);

	if (pad->site && !gone)
		write_in_pad(location, location->inferior->arch->displaced->nop);
	location_pad_destroy(pad);
	free(pad);
	location->engine_data = NULL;
	trap_forget(location);
}

/* ---- the operations ---- */

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
	location->engine_data = calloc(1, sizeof(struct location_pad));
	if (!location->engine_data) {
		trap_forget(location);
		return error_create(ENOMEM, "a trap");
	}
	if (location->among_uprobes)
		trap_be_distinct(location);
	location_pad_make(pad_of(location), location, true);
	err = plant(location);
	if (err < 0) {
		error = error_create(-err, "cannot write a trap at 0x%jx",
				     (uintmax_t)location->addr);
		trap_lift(location); /* of a jump, a part may be there */
		forget(location, false);
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
	forget(location, gone);
}

static int int3_suspend(struct engine *engine, struct location *location)
{
	struct site *site = pad_of(location)->site;

	(void)engine;
	if (site)
		site->planted = false;
	return trap_lift(location);
}

static int int3_resume(struct engine *engine, struct location *location)
{
	struct site *site = pad_of(location)->site;
	int err = trap_plant(location);

	(void)engine;
	if (site)
		site->planted = err == 0;
	return err;
}

static bool int3_intact(struct engine *engine, const struct location *location)
{
	(void)engine;
	return trap_is_planted(location);
}

static bool int3_outdated(struct engine *engine, const struct location *location)
{
	(void)engine;
	return location_pad_is_outdated(pad_of(location), location);
}

/* ---- hits ---- */

/* A stop and a step with all others halted cost about what making a pad does. */
enum { HOT = 10 };

static bool is_hot(const struct location *location)
{
	const struct hit_counts counts = counts_total(&location->counts);

	return location->conditions.count > 0 && counts.hits - counts.trues >= HOT;
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
	location->hot |= is_hot(location);
}

static void int3_counts(struct engine *engine, const struct location *location,
			struct counts *counts)
{
	(void)engine;
	location_pad_add_counts(pad_of(location), counts);
}

static void int3_reset_counts(struct engine *engine, struct location *location)
{
	(void)engine;
	location_pad_reset_counts(pad_of(location));
}

/* ---- what is told ---- */

static void int3_describe(struct engine *engine, const struct location *location,
			  struct buffer *out)
{
	const struct site *site = pad_of(location)->site;

	(void)engine;
	if (watch_tells_all(location))
		buffer_append_string(out, "gdb");
	else
		buffer_append_string(out, site && site_filters(site) ? "filter; stub"
								     : "stub");
}

static const struct location_pad *int3_pad(const struct location *location)
{
	return pad_of(location);
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
	.outdated = int3_outdated,
	.on_stop = int3_on_stop,
	.counts = int3_counts,
	.reset_counts = int3_reset_counts,
	.describe = int3_describe,
	.pad = int3_pad,
};
