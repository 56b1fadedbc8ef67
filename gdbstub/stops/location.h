/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The locations of an inferior, between the parts of breakpoints.h. Which file does
 * what:
 *
 *   breakpoints.c   what the client asks for; life of a location
 *   install.c       putting a location in, giving slots away
 *   choice.c        which engines may serve it (choice.h)
 *   commit.c        making what is in place equal to what is wanted
 *   share.c         watchpoints that share slots (share.h)
 *   slots.c         who has which hardware slots (slots.h)
 *   traps.c         traps that others must not see
 */
#ifndef TRUEHIT_STOPS_LOCATION_H
#define TRUEHIT_STOPS_LOCATION_H

#include "stops/breakpoints.h"

/* ---- breakpoints.c ---- */

/** Nothing if it is out already. @gone as in engine_ops.remove. */
void location_take_out(struct location *location, bool gone);
/** Frees a location, which must be out. */
void location_destroy(struct breakpoints *breakpoints, struct location *location);
/** Takes out and frees what nobody wants any longer. Were there some with slots? */
bool locations_drop_unwanted(struct breakpoints *breakpoints);
/** Is it in place (on or off) by other means than a planted trap? */
bool location_uses_hardware(const struct location *location);
/** The hits that stub and engine have counted, by thread, and the sum. The caller
 * clears the former. */
struct counts location_counts(const struct location *location);
struct hit_counts location_count(const struct location *location);

/* ---- install.c ---- */

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
/* ---- commit.c ---- */

/** Switches a location that is not out: LOCATION_IN or LOCATION_SUSPENDED. */
struct error *location_switch(struct location *location, enum location_state state);

/** Memory that is lent to a vfork child must hold no trap of ours. */
bool location_must_stay_off(const struct location *location);

/** Is there a location that cannot be served as it is any longer? */
bool locations_are_outdated(const struct breakpoints *breakpoints);
/** Such locations are put in anew at once. No thread may be running: a hit whose stop
 * has not been seen would be lost, and its thread would stay after the instruction. */
void locations_move_outdated(struct breakpoints *breakpoints);

/* ---- traps.c ---- */

/** Puts in what is wanted and out, and warns of what cannot be. */
void locations_put_in_again(struct breakpoints *breakpoints);
/** The trap of the location, if it has one, has come, or is about to go: the kernel
 * engines are told at once of bytes that are not what memory shows. */
void traps_changed(struct location *location);
/** Tells the kernel engines exactly which bytes these are, if that has changed: before
 * threads are resumed. @stepping: only steps follow, and what is lifted for them may
 * stay among them. */
void traps_update_shadow(struct breakpoints *breakpoints, bool stepping);

#endif
