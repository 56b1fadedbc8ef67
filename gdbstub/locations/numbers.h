/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The numbers by which users know locations. They are the server's: a number means one
 * place of one program, in all processes that execute this program, and one that is put
 * in again after it was taken out has the number that it had. A location gets its
 * number when it is first shown, so that what gdb puts in for a moment takes none;
 * breakpoints of gdb's own (symbols_is_hook) have numbers below 0.
 */
#ifndef TRUEHIT_LOCATIONS_NUMBERS_H
#define TRUEHIT_LOCATIONS_NUMBERS_H

#include <stdbool.h>

#include "gdbstub/locations/location.h"

/** All locations of an inferior have numbers then (location->shown_number). */
void numbers_give(struct breakpoints *breakpoints);
/** The number of such a location of the user's, be it there any more or not. */
int numbers_of(struct breakpoints *breakpoints, enum breakpoint_type type,
	       uint64_t addr, unsigned int len);
/** Is it one of gdb's own? It has a number. */
bool location_is_gdbs(const struct location *location);
/** The program of an inferior was replaced: a number means another place. */
void numbers_forget_program(struct breakpoints *breakpoints);

#endif
