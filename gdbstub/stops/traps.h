/* SPDX-License-Identifier: BSD-2-Clause */
/* Traps that others must not see. */
#ifndef TRUEHIT_STOPS_TRAPS_H
#define TRUEHIT_STOPS_TRAPS_H

#include "stops/breakpoints.h"

/** Puts in what is wanted and out, and warns of what cannot be. */
void locations_put_in_again(struct breakpoints *breakpoints);
/** The trap of the location, if it has one, has come, or is about to go: the kernel
 * engines are told at once of bytes that are not what memory shows. */
void traps_changed(struct location *location);
/** Tells the kernel engines exactly which bytes these are, if that has changed: before
 * threads are resumed. @stepping: only steps follow, and what is lifted for them may
 * stay among them. */
void traps_update_shadow(struct breakpoints *breakpoints, bool stepping);

/** Writes the original bytes into another inferior's memory: a forked child's copy,
 * or what a vfork child leaves to its parent. */
void breakpoints_clean_child(struct breakpoints *breakpoints, struct inferior *child);
/**
 * Takes planted traps out of the text until the next commit, also those of inferiors
 * that share it: those at @addr, or all of them if @everywhere.
 */
struct error *breakpoints_lift_traps(struct breakpoints *breakpoints, uint64_t addr,
				     bool everywhere);
/** Is any trap planted in the text? */
bool breakpoints_have_traps(const struct breakpoints *breakpoints);

/** As inferior_read and inferior_write, but planted traps are not seen, and
 * survive a write over them. */
ssize_t breakpoints_read_memory(struct inferior *inferior, uint64_t addr, void *data,
				size_t len);
int breakpoints_write_memory(struct inferior *inferior, uint64_t addr, const void *data,
			     size_t len);

#endif
