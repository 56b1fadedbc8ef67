/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Planted traps: what the rest of stops/ must know about them, since they can
 * be seen in memory and must be stepped over.
 */
#ifndef TRUEHIT_STOPS_INT3_H
#define TRUEHIT_STOPS_INT3_H

#include "stops/breakpoints.h"

/** The location whose trap is planted (in place, not suspended) at @addr, or NULL. In
 * memory that inferiors share, it may be another's. */
struct location *int3_at(struct inferior *inferior, uint64_t addr);

/**
 * Moves a thread that hit a trap in vain behind it, if a trap is what the program
 * has there itself: stepping over ours would run into that one. False: it has not.
 */
bool int3_skip_own(struct thread *thread);

/** Puts the program's own bytes into @data, read from memory at @addr. */
void int3_show_originals(const struct inferior *inferior, uint64_t addr, uint8_t *data,
			 size_t len);
/**
 * Writes @data to memory at @addr; traps in there stay, the bytes under them
 * change. 0 or a negative errno (then nothing has changed).
 */
int int3_write_under(struct inferior *inferior, uint64_t addr, const void *data,
		     size_t len);
/** Writes a location's original bytes into a copy of the process (a fork). */
int int3_clean(const struct location *location, struct inferior *child);

#endif
