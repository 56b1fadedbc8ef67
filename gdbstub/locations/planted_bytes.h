/* SPDX-License-Identifier: BSD-2-Clause */
/* The bytes of all planted traps, of which the kernel engines and filters are told. */
#ifndef TRUEHIT_LOCATIONS_PLANTED_BYTES_H
#define TRUEHIT_LOCATIONS_PLANTED_BYTES_H

#include <stdbool.h>

#include "gdbstub/locations/location.h"

/** The trap of the location, if it has one, has come, or is about to go: the kernel
 * engines are told at once of bytes that are not what memory shows. */
void traps_changed(struct location *location);
/** Tells the kernel engines exactly which bytes these are, if that has changed: before
 * threads are resumed. @stepping: only steps follow, and what is lifted for them may
 * stay among them. */
void traps_update_shadow(struct breakpoints *breakpoints, bool stepping);
/** Tells the filters in its memory (inferior->filter_shadow), which are new. */
void planted_bytes_tell_filters(const struct inferior *inferior);

#endif
