/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hardware slots of an inferior: who has them, and what is left. Every thread has
 * the same number; a location takes its slots in all of them.
 */
#ifndef TRUEHIT_BREAKPOINTS_SLOTS_H
#define TRUEHIT_BREAKPOINTS_SLOTS_H

#include "gdbstub/breakpoints/breakpoints.h"

/** What each thread has, of the slots that a kind of location can use. */
struct slot_pool {
	const struct breakpoints *breakpoints;
	enum hw_kind kind;
	bool for_all; /* kinds */
	unsigned int total, used, free;
	unsigned int foreign; /* somebody else's */
};

/** Whether there is an engine that uses them is another question: engines_no_slots().
 */
struct slot_pool slots_look(const struct breakpoints *breakpoints, enum hw_kind kind);

/** Splits what a location watches into what single slots can do; as hw_plan. */
int slots_plan(const struct location *location, struct hw_region *out,
	       unsigned int max);
/** How many slots it takes; more than HW_SLOTS_MAX: very many. */
unsigned int slots_needed(const struct location *location);
/** Do two kinds take their slots from the same pool? */
bool slots_same_pool(const struct arch_ops *arch, enum hw_kind a, enum hw_kind b);
/**
 * Is there room for a location among those that have no choice, if all software
 * breakpoints gave their slots up?
 */
bool slots_may_suffice(const struct location *location);

/** How many slots of the location's pool are held by other engines than this one. */
unsigned int slots_of_other_engines(const struct location *location,
				    const struct engine_ops *ops);
/** Appends the locations that keep slots from @location: "2 (watch *0x404028, 4 bytes,
 * flag), 3 (hbreak *0x401136, main)". */
void slots_print_users(const struct location *location, struct buffer *out);
/** Appends how many there are, in use and free, and who uses them, for
 * `monitor engines`. */
void slots_print(const struct breakpoints *breakpoints, struct buffer *out);
/** The error of a location that found no slot: why, and what to do. */
struct error *slots_error(const struct location *location);

#endif
