/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which engine serves which location: the cheapest exact one, by what hits cost on this
 * machine. Hardware slots are few, and kept for those who ask for them.
 */
#ifndef TRUEHIT_BREAKPOINTS_CHOICE_H
#define TRUEHIT_BREAKPOINTS_CHOICE_H

#include "gdbstub/locations/engine.h"

/** Which engines may serve a location, in order of preference: returns how many of
 * @choices (room for NENGINES) were filled with their indexes. */
unsigned int choice_list(const struct engines *engines, const struct location *location,
			 int *choices);
/** Why a location is kept out of hardware slots, for people; NULL: it may have one.
 * One that stops at every hit has one all the same where there are uprobes in the
 * memory and it cannot be one. */
const char *choice_keeps_out(const struct location *location);
/** May the program go on by itself after a hit: after a false one, after what commands
 * print, or as the next hits are ignored? */
bool choice_passes_hits(const struct location *location);
/**
 * Does it pass hits, and lies in a restartable sequence (location->restartable)? Such
 * a sequence must be executed in place, and by a thread that does not stop: the kernel
 * makes it begin anew then. Only hardware with programs does both.
 */
bool choice_needs_slot(const struct location *location);
/** What becomes of such a location without a slot, for people; NULL: it has one, or
 * needs none. */
const char *choice_restarts(const struct location *location);
/**
 * Has the kernel traps of its own in this memory? Then it takes others for its own,
 * too, which stop nobody, wherever anybody has a uprobe at the same place of the same
 * file, for whatever process: all had better be uprobes.
 */
bool choice_among_uprobes(const struct inferior *inferior);
/** Appends what decides between uprobes and hardware, if there are uprobes. */
void choice_print_costs(const struct engines *engines, const struct location *location,
			struct buffer *out);
/** What a trial at the start has shown that a false hit costs as this location is
 * served now, ns. 0: not known, or it stops its thread. */
unsigned int choice_trial_ns(const struct location *location);
const char *choice_name(enum engine_choice choice);
/** "auto", "uprobe", "hardware" or "ptrace"; -EINVAL for any other name. */
int choice_parse(const char *name, enum engine_choice *ret);

#endif
