/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether traps are still where they were planted. Nobody tells when the program drops
 * them (MADV_DONTNEED), maps its file anew, or puts other memory in their place:
 * doc/exactness/text.md lists the ways. So memory is looked at, at stops.
 */
#ifndef TRUEHIT_TEXT_TRAP_INSPECTION_H
#define TRUEHIT_TEXT_TRAP_INSPECTION_H

#include "gdbstub/locations/location.h"

/**
 * Notes what has become of all traps in place (location->fate), unless that was done
 * since the last resume (breakpoints->inspected). Locations close to each other, in the
 * order in which they were inserted, are read at once: one system call per page with
 * some.
 */
void breakpoints_inspect(struct breakpoints *breakpoints);
/** Looks at the traps that nobody wants, and that are about to be lifted, in the same
 * way: location->seen is the caller's to reset after that. */
void breakpoints_look_at_unwanted(struct breakpoints *breakpoints);
/** Is its trap where it was planted, as was seen since anybody has run? False: it may
 * be there all the same. */
bool trap_is_seen(const struct location *location);
/** Is a location in place (LOCATION_IN) as it was put in? Of what was inspected, that
 * is known. */
bool location_is_intact(const struct location *location);
/** Is its trap to be put in anew, as it has gone, or is none of its engine's there? */
bool traps_must_move(const struct location *location);
/** Appends, for people, what has become of the trap, and of earlier ones. Nothing: they
 * are where they were. */
void location_print_fate(const struct location *location, struct buffer *out);

#endif
