/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/text/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/inferior/memory.h"
#include "gdbstub/locations/index.h"
#include "gdbstub/text/trap.h"

/* What happens to the bytes of a buffer that lie under traps. */
enum overlap {
	SHOW_ORIGINALS, /* buffer = original */
	TAKE_ORIGINALS, /* original = buffer */
	PLANT_TRAPS,	/* buffer = trap */
};

static void overlap_location(const struct location *location, enum overlap what,
			     uint64_t addr, uint8_t *data, size_t len)
{
	struct trap *trap = location->trap;
	unsigned int count = what == TAKE_ORIGINALS ? trap->known : trap->len;

	if (location->fate == TRAP_REPLACED)
		return;
	for (unsigned int i = 0; i < count; i++) {
		uint64_t at = location->addr + i - addr;

		if (at >= len)
			continue;
		if (what == TAKE_ORIGINALS)
			trap->original[i] = data[at];
		else if (location->state != LOCATION_IN)
			continue;
		else if (what == PLANT_TRAPS)
			data[at] = trap->planted[i];
		else if (data[at] == trap->planted[i])
			data[at] = trap->original[i];
	}
}

static void overlap_inferior(const struct inferior *inferior, enum overlap what,
			     uint64_t addr, uint8_t *data, size_t len)
{
	const struct location *location;
	struct index_walk walk;

	if (!inferior->breakpoints || len == 0)
		return;
	for (location = index_begin_near(&walk, inferior->breakpoints, addr, len,
					 TRAP_CODE_MAX);
	     location; location = index_next(&walk)) {
		if (location->state != LOCATION_OUT && location->trap)
			overlap_location(location, what, addr, data, len);
	}
}

static void overlap(const struct inferior *inferior, enum overlap what, uint64_t addr,
		    uint8_t *data, size_t len)
{
	const struct inferior *other;

	FOREACH_SHARING (other, inferior)
		overlap_inferior(other, what, addr, data, len);
}

static void ask_engines(const struct inferior *inferior, uint64_t addr, uint8_t *data,
			size_t len)
{
	struct engines *engines =
		inferior->breakpoints ? inferior->breakpoints->engines : NULL;

	for (int i = 0; engines && i < NENGINES; i++) {
		struct engine *engine = &engines->engine[i];

		if (!engine->unusable && engine->ops->show_originals)
			engine->ops->show_originals(engine, inferior, addr, data, len);
	}
}

void traps_show_originals(const struct inferior *inferior, uint64_t addr, uint8_t *data,
			  size_t len)
{
	overlap(inferior, SHOW_ORIGINALS, addr, data, len);
	if (memchr(data, inferior->arch->breakpoint_insn[0], len))
		ask_engines(inferior, addr, data, len);
}

void traps_show_planted(const struct inferior *inferior, uint64_t addr, uint8_t *data,
			size_t len)
{
	overlap(inferior, PLANT_TRAPS, addr, data, len);
}

int traps_write_under(struct inferior *inferior, uint64_t addr, const void *data,
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

ssize_t breakpoints_read_memory(struct inferior *inferior, uint64_t addr, void *data,
				size_t len)
{
	ssize_t n = inferior_read(inferior, addr, data, len);

	if (n > 0)
		traps_show_originals(inferior, addr, data, (size_t)n);
	return n;
}
