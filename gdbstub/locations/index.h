/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The locations of an inferior by what they are looked for, however many there are: by
 * number, by address, by ranges of addresses, and by the place in a page.
 */
#ifndef TRUEHIT_LOCATIONS_INDEX_H
#define TRUEHIT_LOCATIONS_INDEX_H

#include "gdbstub/locations/location.h"

/** Of a location whose number, type and address are set, and change no more. */
void index_add(struct breakpoints *breakpoints, struct location *location);
void index_remove(struct breakpoints *breakpoints, struct location *location);
/** Frees it; all locations were removed. */
void index_deinit(struct breakpoints *breakpoints);

/** NULL: there is none. */
struct location *index_number(const struct breakpoints *breakpoints,
			      unsigned int number);

/** Going through locations of which none is destroyed meanwhile. */
struct index_walk {
	const struct breakpoints *breakpoints;
	uint64_t first, last, cell;
	struct table_entry *entry; /* the next one to look at */
	struct location *listed;   /* ... or this one, if there are fewer locations
				    * than cells */
};

/** The first location at [@first, @last], in no particular order; NULL: there is none.
 * At one address, the oldest comes first. */
struct location *index_begin(struct index_walk *walk,
			     const struct breakpoints *breakpoints, uint64_t first,
			     uint64_t last);
/** The next one. NULL: there are no more. */
struct location *index_next(struct index_walk *walk);
/** As index_begin: those that begin in the bytes [addr, addr + len), which may not be
 * empty, or less than @before in front of them. */
struct location *index_begin_near(struct index_walk *walk,
				  const struct breakpoints *breakpoints, uint64_t addr,
				  uint64_t len, unsigned int before);

#endif
