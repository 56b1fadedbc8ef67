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

/* The program may have mapped something else there: 1 if the trap is in memory, 0
 * if it is not, or a negative errno. */
static int is_planted(const struct location *location, struct inferior *inferior)
{
	const struct arch_ops *arch = inferior->arch;
	uint8_t insn[INSN_MAX];
	ssize_t n = inferior_read(inferior, location->addr, insn, arch->breakpoint_len);

	if (n != (ssize_t)arch->breakpoint_len)
		return n < 0 ? (int)n : -EIO;
	return memcmp(insn, arch->breakpoint_insn, arch->breakpoint_len) == 0;
}

static struct location *own_trap(struct inferior *inferior, uint64_t addr)
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

/* A trap that another inferior has planted there, in memory that is @inferior's, too
 * (vfork): there is one trap then, and two locations. */
static struct location *shared_trap(const struct inferior *inferior, uint64_t addr)
{
	struct inferior *other;

	TAILQ_FOREACH (other, &inferior->owner->list, link) {
		struct location *location = NULL;

		if (other != inferior && inferior_shares_memory(other, inferior))
			location = own_trap(other, addr);
		if (location)
			return location;
	}
	return NULL;
}

/* Takes a trap out of the text of @inferior: the location's, or a copy of it. An
 * unmapped library has taken its traps along: nothing is left behind. */
static int write_original(const struct location *location, struct inferior *inferior)
{
	const struct int3 *int3 = location->engine_data;
	int planted;

	if (shared_trap(inferior, location->addr))
		return 0;
	planted = is_planted(location, inferior);
	if (planted <= 0)
		return planted == -EFAULT ? 0 : planted;
	return inferior_write(inferior, location->addr, int3->original,
			      inferior->arch->breakpoint_len);
}

/* Notes the program's own instruction at a location that has no trap. */
static int read_original(const struct location *location)
{
	struct int3 *int3 = location->engine_data;
	unsigned int len = location->inferior->arch->breakpoint_len;
	uint8_t insn[INSN_MAX];
	const struct location *shared = shared_trap(location->inferior, location->addr);
	ssize_t n = len;

	if (shared)
		memcpy(insn, ((const struct int3 *)shared->engine_data)->original, len);
	else
		n = inferior_read(location->inferior, location->addr, insn, len);
	if (n != (ssize_t)len)
		return n < 0 ? (int)n : -EIO;
	memcpy(int3->original, insn, len);
	return 0;
}

static struct error *int3_insert(struct engine *engine, struct location *location)
{
	struct error *error = NULL;
	int err;

	(void)engine;
	if (location->type != BREAKPOINT_SOFTWARE)
		return error_create(EOPNOTSUPP,
				    "int3 serves software breakpoints only");
	location->engine_data = calloc(1, sizeof(struct int3));
	if (!location->engine_data)
		return error_create(ENOMEM, "software breakpoint");
	err = read_original(location);
	if (err < 0) {
		error = error_create(-err, "cannot read the instruction at 0x%jx",
				     (uintmax_t)location->addr);
	} else {
		err = write_trap(location);
		if (err < 0)
			error = error_create(-err, "cannot write a trap at 0x%jx",
					     (uintmax_t)location->addr);
	}
	if (error)
		free(take_ptr(location->engine_data));
	return error;
}

static void int3_remove(struct engine *engine, struct location *location, bool gone)
{
	int err = 0;

	(void)engine;
	if (!gone && location->state == LOCATION_IN)
		err = write_original(location, location->inferior);
	if (err < 0)
		log_debug(LOG_STOPS, "trap at 0x%jx not taken out: %s",
			  (uintmax_t)location->addr, strerror(-err));
	free(location->engine_data);
	location->engine_data = NULL;
}

static int int3_suspend(struct engine *engine, struct location *location)
{
	(void)engine;
	return write_original(location, location->inferior);
}

static int int3_resume(struct engine *engine, struct location *location)
{
	int err = read_original(location);

	(void)engine;
	return err < 0 ? err : write_trap(location);
}

static bool int3_intact(struct engine *engine, const struct location *location)
{
	(void)engine;
	return is_planted(location, location->inferior) > 0;
}

struct location *int3_at(struct inferior *inferior, uint64_t addr)
{
	struct location *location = own_trap(inferior, addr);

	return location ? location : shared_trap(inferior, addr);
}

bool int3_skip_own(struct thread *thread)
{
	const struct arch_ops *arch = thread->inferior->arch;
	const struct location *location;
	const struct int3 *int3;
	uint64_t pc;

	if (thread_get_pc(thread, &pc) < 0)
		return false;
	location = int3_at(thread->inferior, pc);
	if (!location)
		return false;
	int3 = location->engine_data;
	if (memcmp(int3->original, arch->breakpoint_insn, arch->breakpoint_len) != 0)
		return false;
	return thread_set_pc(thread, pc + arch->breakpoint_len) == 0;
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
		else if (location->state != LOCATION_IN)
			continue;
		else if (what == PLANT_TRAPS)
			data[at] = arch->breakpoint_insn[i];
		else if (data[at] == arch->breakpoint_insn[i])
			data[at] = int3->original[i];
	}
}

static void overlap_inferior(const struct inferior *inferior, enum overlap what,
			     uint64_t addr, uint8_t *data, size_t len)
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

static void overlap(const struct inferior *inferior, enum overlap what, uint64_t addr,
		    uint8_t *data, size_t len)
{
	const struct inferior *other;

	TAILQ_FOREACH (other, &inferior->owner->list, link) {
		if (inferior_shares_memory(other, inferior))
			overlap_inferior(other, what, addr, data, len);
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
	return own_trap(child, location->addr) ? 0 : write_original(location, child);
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
	.intact = int3_intact,
	.on_stop = int3_on_stop,
	.describe = int3_describe,
};
