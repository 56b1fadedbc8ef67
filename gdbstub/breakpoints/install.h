/* SPDX-License-Identifier: BSD-2-Clause */
/* Putting a location in, giving slots away. */
#ifndef TRUEHIT_BREAKPOINTS_INSTALL_H
#define TRUEHIT_BREAKPOINTS_INSTALL_H

#include "gdbstub/breakpoints/breakpoints.h"

/**
 * Tries the engines in turn. Returns NULL or the error of the first usable one
 * (the one that the user would have liked), and notes why later ones serve.
 */
struct error *location_put_in(struct breakpoints *breakpoints,
			      struct location *location);
/** Puts in a location that is out. For one that needs a hardware slot, others that are
 * unwanted or have a choice give theirs up. Errors say which slots are taken by what.
 */
struct error *location_install(struct breakpoints *breakpoints,
			       struct location *location);

/** The client goes on: what it was refused is of no interest any longer. */
void breakpoints_forget_refusal(struct breakpoints *breakpoints);

/**
 * A jump to a pad may end with bytes of others' traps: where these have come or gone
 * since, it is made anew, before any thread runs. An error: one of them is lost, and
 * the rest is yet to be looked at.
 */
struct error *locations_settle_jumps(struct breakpoints *breakpoints);
/** Puts in what is wanted and out, and warns of what cannot be. */
void locations_put_in_again(struct breakpoints *breakpoints);

#endif
