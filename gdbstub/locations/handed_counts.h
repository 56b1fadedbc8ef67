/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ignore counts of gdb's breakpoints, which its extension hands over for as long as gdb
 * only lets threads continue: gdb has none meanwhile, and the gate of the location
 * (ignore.h) counts in its place. At the next stop gdb gets back what is left. A count
 * is kept by its address: the location may come later, be moved by another engine, or
 * go with the program that an exec replaces.
 */
#ifndef TRUEHIT_LOCATIONS_HANDED_COUNTS_H
#define TRUEHIT_LOCATIONS_HANDED_COUNTS_H

#include "gdbstub/base/buffer.h"
#include "gdbstub/base/error.h"
#include "gdbstub/locations/engine.h"

enum { HANDED_COUNTS_MAX = 1024 }; /* in a process */

struct breakpoints;

/**
 * The next @left true hits of the breakpoint at @addr are ignored, instead of what was
 * handed over before. @conditional: it counts once the location has conditions, and
 * only then; else, while it has none. An error if the location ignores hits already.
 */
struct error *handed_count_set(struct breakpoints *breakpoints, uint64_t addr,
			       int64_t left, bool conditional);
/** A location is new, or its conditions are. */
void handed_count_bind(struct breakpoints *breakpoints, struct location *location);
/** It is about to be freed. */
void handed_count_unbind(struct breakpoints *breakpoints, struct location *location);
/** Does it count in gdb's place? */
bool handed_count_is_bound(const struct breakpoints *breakpoints,
			   const struct location *location);
/** The location at @addr whose next hit is to be ignored so, or NULL. */
struct location *handed_count_at(const struct breakpoints *breakpoints, uint64_t addr);
/** Ends all of them, and appends what is left: "401136,3;401200,0". */
void handed_counts_take(struct breakpoints *breakpoints, struct buffer *out);
/** Ends all of them, as nobody will ask. */
void handed_counts_clear(struct breakpoints *breakpoints);
/** The process ends, and with it its locations, which are freed already: its counts are
 * kept for handed_counts_take_ended(), instead of those of another one. */
void handed_counts_keep(struct breakpoints *breakpoints);
/** As handed_counts_take(), of a process that has ended; nothing, if it is not the last
 * one that had counts. */
void handed_counts_take_ended(struct engines *engines, pid_t pid, struct buffer *out);
/** Frees what handed_counts_keep() has kept. */
void handed_counts_forget_ended(struct engines *engines);

#endif
