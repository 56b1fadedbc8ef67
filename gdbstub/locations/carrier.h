/* SPDX-License-Identifier: BSD-2-Clause */
/* Locations that share hardware slots, and what is in place for them. */
#ifndef TRUEHIT_LOCATIONS_CARRIER_H
#define TRUEHIT_LOCATIONS_CARRIER_H

#include <stdbool.h>

#include "gdbstub/locations/location.h"

enum { SHARE_MEMBERS_MAX = HITS_MAX };

/** Locations that share: their engine_data. */
struct share {
	LIST_ENTRY(share) link;
	struct location carrier; /* in no list; its engine is an ordinary one */
	struct location *member[SHARE_MEMBERS_MAX];
	unsigned int count;
};

/** What the location is one of, or NULL. */
struct share *share_of(const struct location *location);

/** The carrier of a location that shares, or NULL. */
const struct location *share_carrier(const struct location *location);
/** Is it the one that counts for all with its carrier? */
bool share_leads(const struct location *location);
/** Appends the numbers of those that it shares with: "2, 3". */
void share_print_others(const struct location *location, struct buffer *out);

#endif
