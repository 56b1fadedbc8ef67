/* SPDX-License-Identifier: BSD-2-Clause */
/* What users type to name a location, and are shown. */
#ifndef TRUEHIT_LOCATIONS_LOCATION_NAME_H
#define TRUEHIT_LOCATIONS_LOCATION_NAME_H

#include "gdbstub/locations/location.h"

/**
 * The one location that @text names: its number ("2", as `monitor breakpoints` shows
 * it), its address ("*0x1234", "0x1234"), or its symbol: "name+0x12" means that very
 * address, "name" the symbol's first address or else all of it; in this inferior, or,
 * if it has none, in all others. Locations that the client has taken out since the last
 * resume count, too: at a stop gdb does that to all of them. Errors say what would do.
 */
struct error *location_named(struct inferior *inferior, const char *text,
			     struct location **ret);
/** Appends "hbreak 2 at main+0x5f". It has a number (numbers.h). */
void location_name_append(struct buffer *out, const struct location *location);

#endif
