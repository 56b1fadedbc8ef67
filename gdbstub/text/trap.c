/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/text/trap.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "gdbstub/base/log.h"
#include "gdbstub/inferior/event.h"
#include "gdbstub/inferior/memory.h"
#include "gdbstub/inferior/registers.h"
#include "gdbstub/locations/index.h"
#include "gdbstub/text/old_traps.h"
#include "gdbstub/text/text.h"
#include "gdbstub/text/traps.h"

static int write_trap(const struct location *location)
{
	return inferior_write(location->inferior, location->addr,
			      location->trap->planted, location->trap->len);
}

/* The program may have mapped something else there: 1 if so much of the trap is in
 * memory, 0 if it is not, or a negative errno. */
static int has_bytes(const struct location *location, struct inferior *inferior,
		     unsigned int len)
{
	const struct trap *trap = location->trap;
	uint8_t insn[TRAP_CODE_MAX];
	ssize_t n = inferior_read(inferior, location->addr, insn, len);

	if (n != (ssize_t)len)
		return n < 0 ? (int)n : -EIO;
	return memcmp(insn, trap->planted, len) == 0;
}

static int is_planted(const struct location *location, struct inferior *inferior)
{
	return has_bytes(location, inferior, location->trap->len);
}

static struct location *own_trap(struct inferior *inferior, uint64_t addr)
{
	struct location *location;
	struct index_walk walk;

	if (!inferior->breakpoints)
		return NULL;
	for (location = index_begin(&walk, inferior->breakpoints, addr, addr); location;
	     location = index_next(&walk)) {
		if (location->state == LOCATION_IN && location->trap)
			break;
	}
	return location;
}

/* A trap that another inferior has planted there, in memory that is @inferior's, too
 * (vfork): there is one trap then, and two locations. */
static struct location *shared_trap(const struct inferior *inferior, uint64_t addr)
{
	struct inferior *other;

	FOREACH_SHARING (other, inferior) {
		struct location *location = NULL;

		if (other != inferior)
			location = own_trap(other, addr);
		if (location)
			return location;
	}
	return NULL;
}

/* Other memory is there, in which what looks like the trap is the program's own. */
static bool is_replaced(const struct location *location)
{
	return location->fate == TRAP_REPLACED && !trap_is_code(location);
}

/* Takes a trap out of the text of @inferior: the location's, or a copy of it. An
 * unmapped library has taken its traps along: nothing is left behind. */
static int write_original(const struct location *location, struct inferior *inferior)
{
	int planted, err;

	if (shared_trap(inferior, location->addr) || is_replaced(location))
		return 0;
	planted = location->seen && inferior == location->inferior
			  ? 1
			  : is_planted(location, inferior);
	if (planted <= 0)
		return planted == -EFAULT ? 0 : planted;
	err = inferior_write(inferior, location->addr, location->trap->original,
			     location->trap->len);
	/* A process that is being killed has no memory any more. */
	return err < 0 && is_planted(location, inferior) == -EFAULT ? 0 : err;
}

/* Notes the program's own instruction at a location that has no trap. */
static int read_original(const struct location *location)
{
	uint8_t code[TRAP_CODE_MAX];
	ssize_t n = breakpoints_read_memory(location->inferior, location->addr, code,
					    sizeof(code));

	if (n < (ssize_t)location->trap->len)
		return n < 0 ? (int)n : -EIO;
	memcpy(location->trap->original, code, (size_t)n);
	location->trap->known = (unsigned int)n;
	return 0;
}

/* Of @span bytes, the first @len are written. */
static void be(struct location *location, enum trap_kind kind, const uint8_t *bytes,
	       unsigned int len, unsigned int span)
{
	location->trap->kind = kind;
	memcpy(location->trap->planted, bytes, span);
	location->trap->len = len;
	location->trap_len = len;
	location->trap_span = span;
}

int trap_note(struct location *location)
{
	const struct arch_ops *arch = location->inferior->arch;
	int err;

	location->trap = calloc(1, sizeof(*location->trap));
	if (!location->trap)
		return -ENOMEM;
	be(location, TRAP_INSN, arch->breakpoint_insn, arch->breakpoint_len,
	   arch->breakpoint_len);
	err = read_original(location);
	if (err < 0)
		trap_forget(location);
	return err;
}

void trap_be_jump(struct location *location, const uint8_t *bytes, unsigned int len,
		  unsigned int span)
{
	be(location, TRAP_JUMP, bytes, len, span);
}

bool trap_is_jump(const struct location *location)
{
	return location->trap->kind == TRAP_JUMP;
}

/* Is it such a trap that has faulted at @pc? A copy of one may be elsewhere. */
static bool has_distinct_trap(struct inferior *inferior, uint64_t pc)
{
	const struct location *location = trap_at(inferior, pc);

	return location ? location->trap->kind == TRAP_DISTINCT
			: old_traps_find_distinct(inferior, pc);
}

void trap_be_distinct(struct location *location)
{
	const struct arch_ops *arch = location->inferior->arch;

	if (!arch->distinct_trap)
		return;
	be(location, TRAP_DISTINCT, arch->distinct_trap, arch->breakpoint_len,
	   arch->breakpoint_len);
	location->inferior->owner->has_distinct_trap = has_distinct_trap;
}

int trap_know(const struct location *location)
{
	return read_original(location);
}

void trap_forget(struct location *location)
{
	if (!trap_is_jump(location))
		old_traps_add(location->inferior->breakpoints, location->addr,
			      location->trap);
	free(take_ptr(location->trap));
}

int trap_plant(struct location *location)
{
	return trap_plant_over(location, NULL, 0);
}

int trap_plant_over(struct location *location, const uint8_t *code, unsigned int len)
{
	const struct trap *trap = location->trap;
	int err = read_original(location);

	if (err < 0)
		return err;
	if (len > trap->known || (len > 0 && memcmp(trap->original, code, len) != 0))
		return -ESTALE;
	return write_trap(location);
}

int trap_lift(const struct location *location)
{
	return write_original(location, location->inferior);
}

bool trap_is_planted(const struct location *location)
{
	return has_bytes(location, location->inferior, location->trap_span) > 0;
}

bool trap_is_code_of(const struct location *location, const uint8_t *bytes)
{
	const struct trap *trap = location->trap;
	uint8_t code[TRAP_CODE_MAX];

	memcpy(code, bytes, trap->known);
	if (memcmp(code, trap->planted, trap->len) == 0)
		memcpy(code, trap->original, trap->len);
	if (memcmp(code, trap->original, trap->known) == 0)
		return true;
	traps_show_originals(location->inferior, location->addr, code, trap->known);
	return memcmp(code, trap->original, trap->known) == 0;
}

bool trap_is_code(const struct location *location)
{
	const unsigned int known = location->trap->known;
	uint8_t bytes[TRAP_CODE_MAX];

	return inferior_read(location->inferior, location->addr, bytes, known) ==
		       (ssize_t)known &&
	       trap_is_code_of(location, bytes);
}

/* In a pad: the thread is shown at the location already. */
static struct location *executed_in_pad(const struct event *event,
					const struct engine *engine)
{
	const uint64_t addr = event->thread->passed_at;
	struct location *location = addr != 0 && engine->ops->own_traps
					    ? trap_at(event->inferior, addr)
					    : NULL;

	return location && location->engine == engine && trap_is_jump(location)
		       ? location
		       : NULL;
}

struct location *trap_executed(const struct event *event, const struct engine *engine)
{
	struct location *location;
	uint64_t pc;

	if (trap_is_reported(event) && (location = executed_in_pad(event, engine))) {
		/* Resumed there, it hits again, as at any trap. */
		event->thread->passed_at = 0;
		return location;
	}
	if (!trap_is_reported(event) || thread_get_pc(event->thread, &pc) < 0)
		return NULL;
	pc -= event->inferior->arch->breakpoint_pc_advance;
	location = trap_at(event->inferior, pc);
	if (!location || location->engine != engine || is_replaced(location) ||
	    trap_is_jump(location))
		return NULL;
	/* The kernel takes its own: this one is a copy, or the program's. */
	if (engine->ops->kernel_traps && !trap_is_code(location))
		return NULL;
	/* The program never meant to run this instruction: undo it at once. */
	return thread_set_pc(event->thread, pc) == 0 ? location : NULL;
}

struct location *trap_at(struct inferior *inferior, uint64_t addr)
{
	struct location *location = own_trap(inferior, addr);

	return location ? location : shared_trap(inferior, addr);
}

bool trap_skip_own(struct thread *thread)
{
	const struct arch_ops *arch = thread->inferior->arch;
	const struct location *location;
	uint64_t pc;

	if (thread_get_pc(thread, &pc) < 0)
		return false;
	location = trap_at(thread->inferior, pc);
	if (!location)
		return false;
	if (memcmp(location->trap->original, arch->breakpoint_insn,
		   arch->breakpoint_len) != 0)
		return false;
	return thread_set_pc(thread, pc + arch->breakpoint_len) == 0;
}

int trap_clean(const struct location *location, struct inferior *child)
{
	return own_trap(child, location->addr) ? 0 : write_original(location, child);
}
