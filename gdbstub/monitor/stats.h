/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `monitor stats`: how often locations are hit. What counts is the time in which
 * threads were resumed, since people were told last, or since the location's counts
 * were zero.
 */
#ifndef TRUEHIT_MONITOR_STATS_H
#define TRUEHIT_MONITOR_STATS_H

#include "gdbstub/breakpoints/breakpoints.h"

/** Finds out what the locations are called, which takes what reading symbols takes. */
void stats_name(struct inferiors *inferiors);
/** Appends the table, with names that were found out. The time begins anew. */
void stats_print(struct inferiors *inferiors, struct buffer *out);
/** The same for scripts: a document. truehit(1) has the names. */
void stats_print_json(struct inferiors *inferiors, struct buffer *out);

#endif
