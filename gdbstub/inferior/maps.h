/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The map of an inferior's memory, /proc/PID/maps. It may be long, and is kept while no
 * thread runs that could change it, so that it is read once for many locations.
 */
#ifndef TRUEHIT_INFERIOR_MAPS_H
#define TRUEHIT_INFERIOR_MAPS_H

#include <stdint.h>

#include "gdbstub/base/buffer.h"

struct inferior;
struct inferiors;

/** What is kept of an inferior's. NULL: out of memory; then nothing is. */
struct maps *maps_create(void);
/** Legal with NULL. */
void maps_destroy(struct maps *maps);
/** A thread is about to run. */
void maps_outdate(struct inferiors *inferiors);
/** Changes with whatever may change the map, but for what is mapped for pads; 0:
 * threads run. */
uint64_t maps_number(const struct inferior *inferior);
/** The map's lines: those that are kept, or what is read now into @own, which the
 * caller frees. 0 or a negative errno; *text is "" then. */
int maps_read(const struct inferior *inferior, struct buffer *own, const char **text);

#endif
