/* SPDX-License-Identifier: BSD-2-Clause */
/* The pad of a location, whichever engine has a trap in it: whether there is to be one,
 * and what people are told of it. */
#ifndef TRUEHIT_PADS_LOCATION_PAD_H
#define TRUEHIT_PADS_LOCATION_PAD_H

#include "gdbstub/locations/location.h"
#include "gdbstub/pads/pads.h"

/** Of one that is in place. Zeros: there is none. */
struct location_pad {
	bool wanted;	     /* when it was put in, */
	bool trap_stays;     /* ... by an engine whose trap does (site_create) */
	struct site *site;   /* NULL: there is none, */
	char *why_not;	     /* and why not, for people */
	uint64_t neighbours; /* ... which others were near then */
};

/** Makes a pad, if one is wanted: sets .site, or .why_not. @trap_stays: see
 * site_create(). */
void location_pad_make(struct location_pad *pad, struct location *location,
		       bool trap_stays);
/** Legal without one, and twice. */
void location_pad_destroy(struct location_pad *pad);
/** Is the location to be put in anew, with a pad or without? */
bool location_pad_is_outdated(const struct location_pad *pad,
			      const struct location *location);
/** The trap is in the pad: plants the jump to it. */
bool location_pad_plant(const struct location_pad *pad, struct location *location);

/** Adds what the filter has counted; and begins anew. */
void location_pad_add_counts(const struct location_pad *pad, struct counts *counts);
void location_pad_reset_counts(const struct location_pad *pad);

/** Why there is none, for people; NULL: there is one. */
const char *location_pad_why_none(const struct location_pad *pad);
/** Why one that is there does not filter; NULL: it does. */
const char *location_pad_why_no_filter(const struct location_pad *pad);
/** Appends lines on both. */
void location_pad_tell(const struct location_pad *pad, struct buffer *out);
/** Appends the code of one that is there, a line each instruction. */
void location_pad_print(const struct location_pad *pad, const struct inferior *inferior,
			struct buffer *out);

#endif
