/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The int3 engine: the processor's breakpoint instruction, written over the
 * program's text through ptrace. Without limit in number, works anywhere, but
 * every hit stops the thread, and text is changed while the location is in.
 */
#include "stops/int3.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/log.h"

enum { INSN_MAX = 8 };

/* The engine's data of a location. */
struct int3 {
	uint8_t original[INSN_MAX];
};

static struct error *int3_probe(struct engine *engine)
{
	engine->state = NULL; /* whoever may trace may write text */
	return NULL;
}

static void int3_deinit(struct engine *engine)
{
	engine->state = NULL;
}

static int write_trap(const struct location *location)
{
	const struct arch_ops *arch = location->inferior->arch;

	return inferior_write(location->inferior, location->addr, arch->breakpoint_insn,
			      arch->breakpoint_len);
}

static int write_original(const struct location *location)
{
	const struct int3 *int3 = location->engine_data;

	return inferior_write(location->inferior, location->addr, int3->original,
			      location->inferior->arch->breakpoint_len);
}

static struct error *int3_insert(struct engine *engine, struct location *location)
{
	unsigned int len = location->inferior->arch->breakpoint_len;
	_cleanup_free_ struct int3 *int3 = calloc(1, sizeof(*int3));
	ssize_t n;
	int err;

	(void)engine;
	if (!int3)
		return error_create(ENOMEM, "software breakpoint");
	if (location->type != BREAKPOINT_SOFTWARE)
		return error_create(EOPNOTSUPP,
				    "int3 serves software breakpoints only");
	n = inferior_read(location->inferior, location->addr, int3->original, len);
	if (n != (ssize_t)len)
		return error_create(n < 0 ? (int)-n : EIO,
				    "cannot read the instruction at 0x%jx",
				    (uintmax_t)location->addr);
	err = write_trap(location);
	if (err < 0)
		return error_create(-err, "cannot write a trap at 0x%jx",
				    (uintmax_t)location->addr);
	location->engine_data = take_ptr(int3);
	return NULL;
}

static void int3_remove(struct engine *engine, struct location *location, bool gone)
{
	int err = 0;

	(void)engine;
	if (!gone && location->state == LOCATION_IN)
		err = write_original(location);
	/* An unmapped library takes its traps along: nothing is left behind. */
	if (err < 0)
		log_debug(LOG_STOPS, "trap at 0x%jx not taken out: %s",
			  (uintmax_t)location->addr, strerror(-err));
	free(location->engine_data);
	location->engine_data = NULL;
}

static int int3_suspend(struct engine *engine, struct location *location)
{
	(void)engine;
	return write_original(location);
}

static int int3_resume(struct engine *engine, struct location *location)
{
	(void)engine;
	return write_trap(location);
}

struct location *int3_at(struct inferior *inferior, uint64_t addr)
{
	struct location *location;

	if (!inferior->breakpoints)
		return NULL;
	TAILQ_FOREACH (location, &inferior->breakpoints->locations, link) {
		if (location->addr == addr && location->state == LOCATION_IN &&
		    location->engine->ops == &int3_engine)
			return location;
	}
	return NULL;
}

/*
 * si_code of a breakpoint instruction: SI_KERNEL on x86 (arch/x86/kernel/traps.c,
 * do_int3: force_sig), TRAP_BRKPT on arm64.
 */
static void int3_on_stop(struct engine *engine, const struct event *event,
			 struct hits *hits)
{
	struct location *location;
	uint64_t pc;

	(void)engine;
	if (event->signal != SIGTRAP || (event->siginfo.si_code != SI_KERNEL &&
					 event->siginfo.si_code != TRAP_BRKPT))
		return;
	if (thread_get_pc(event->thread, &pc) < 0)
		return;
	pc -= event->inferior->arch->breakpoint_pc_advance;
	location = int3_at(event->inferior, pc);
	if (!location || hits->count == HITS_MAX)
		return;
	/* The program never meant to run this instruction: undo it at once. */
	if (thread_set_pc(event->thread, pc) < 0)
		return;
	hits->hit[hits->count++] = (struct hit){location, HIT_PLAIN};
	hits->signal_is_ours = true;
}

static void int3_describe(struct engine *engine, const struct location *location,
			  struct buffer *out)
{
	(void)engine;
	buffer_append_string(out, location->nconditions ? "stub" : "-");
}

/* What happens to the bytes of a buffer that lie under traps. */
enum overlap {
	SHOW_ORIGINALS, /* buffer = original */
	TAKE_ORIGINALS, /* original = buffer */
	PLANT_TRAPS,	/* buffer = trap */
};

static void overlap_location(const struct location *location, enum overlap what,
			     uint64_t addr, uint8_t *data, size_t len)
{
	const struct arch_ops *arch = location->inferior->arch;
	struct int3 *int3 = location->engine_data;

	for (unsigned int i = 0; i < arch->breakpoint_len; i++) {
		uint64_t at = location->addr + i - addr;

		if (at >= len)
			continue;
		if (what == TAKE_ORIGINALS)
			int3->original[i] = data[at];
		else if (location->state == LOCATION_IN)
			data[at] = what == PLANT_TRAPS ? arch->breakpoint_insn[i]
						       : int3->original[i];
	}
}

static void overlap(const struct inferior *inferior, enum overlap what, uint64_t addr,
		    uint8_t *data, size_t len)
{
	const struct location *location;

	if (!inferior->breakpoints)
		return;
	TAILQ_FOREACH (location, &inferior->breakpoints->locations, link) {
		if (location->state != LOCATION_OUT &&
		    location->engine->ops == &int3_engine)
			overlap_location(location, what, addr, data, len);
	}
}

void int3_show_originals(const struct inferior *inferior, uint64_t addr, uint8_t *data,
			 size_t len)
{
	overlap(inferior, SHOW_ORIGINALS, addr, data, len);
}

int int3_write_under(struct inferior *inferior, uint64_t addr, const void *data,
		     size_t len)
{
	_cleanup_free_ uint8_t *bytes = malloc(len + 1);
	int err;

	if (!bytes)
		return -ENOMEM;
	memcpy(bytes, data, len);
	overlap(inferior, PLANT_TRAPS, addr, bytes, len);
	err = inferior_write(inferior, addr, bytes, len);
	if (err < 0)
		return err;
	memcpy(bytes, data, len);
	overlap(inferior, TAKE_ORIGINALS, addr, bytes, len);
	return 0;
}

int int3_clean(const struct location *location, struct inferior *child)
{
	const struct int3 *int3 = location->engine_data;

	return inferior_write(child, location->addr, int3->original,
			      child->arch->breakpoint_len);
}

const struct engine_ops int3_engine = {
	.name = "int3",
	.title = "software traps in the program's text; conditions in the stub",
	.probe = int3_probe,
	.deinit = int3_deinit,
	.insert = int3_insert,
	.remove = int3_remove,
	.suspend = int3_suspend,
	.resume = int3_resume,
	.on_stop = int3_on_stop,
	.describe = int3_describe,
};
