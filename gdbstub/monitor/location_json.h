/* SPDX-License-Identifier: BSD-2-Clause */
/* Locations, for scripts: JSON. truehit(1) has the names, to which some may be added,
 * and of which none is taken away. */
#ifndef TRUEHIT_MONITOR_LOCATION_JSON_H
#define TRUEHIT_MONITOR_LOCATION_JSON_H

#include "gdbstub/base/json_writer.h"
#include "gdbstub/locations/location.h"

struct symbols;

/** Members that tell which one it is. */
void location_write_name(struct json *json, const struct location *location,
			 struct symbols *symbols);
/** ... who serves it, and decides. */
void location_write_engine(struct json *json, const struct location *location);
/** The members hits, false, true and maybe. */
void location_write_counts(struct json *json, const struct hit_counts *counts);
/** All that is told of one, as members. */
void location_write(struct json *json, struct location *location,
		    struct symbols *symbols);

/** A document: the locations that `monitor breakpoints` shows. */
void breakpoints_print_json(struct inferiors *inferiors, bool all, struct buffer *out);

#endif
