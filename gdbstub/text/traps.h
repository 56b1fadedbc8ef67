/* SPDX-License-Identifier: BSD-2-Clause */
/* Traps that others must not see. */
#ifndef TRUEHIT_TEXT_TRAPS_H
#define TRUEHIT_TEXT_TRAPS_H

#include "gdbstub/locations/location.h"

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

#endif
