/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A location: what the client wants at one address of an inferior, and what is there.
 *
 *   breakpoints   what the client asks for
 *   install       putting a location in, giving slots away
 *   choice        which engines may serve it
 *   commit        making what is in place equal to what is wanted
 *   share         watchpoints that share slots
 *   slots         who has which hardware slots
 *   traps         traps that others must not see
 */
#ifndef TRUEHIT_LOCATIONS_LOCATION_H
#define TRUEHIT_LOCATIONS_LOCATION_H

#include "gdbstub/locations/engine.h"
#include "gdbstub/locations/handed_conditions.h"
#include "gdbstub/locations/sequences.h"

TAILQ_HEAD(location_list, location);

/** The locations of one inferior. */
struct breakpoints {
	struct inferior *inferior;
	struct engines *engines;
	struct location_list locations, watchpoints;
	struct table by_cell, by_number; /* index.h */
	struct handed_list handed;	 /* conditions for what has none of its own */
	struct handed_counts handed_counts;
	unsigned int last_number; /* given to a location; none is given twice */
	uint64_t program;	  /* of the inferior (numbers.c); 0: not known yet */
	pid_t shown_before;	  /* the thread whose access it is shown before
				     (look_after.h); 0 */
	TAILQ_HEAD(old_trap_list, old_trap) old_traps; /* old_traps.h */
	struct table old_by_addr;
	bool inspected;	   /* since the last resume, its traps (trap_inspection.h) */
	uint64_t period;   /* grows with each stop that is told, and each resume */
	bool swept;	   /* since the last resume, for locations that have vanished */
	bool any_doubtful; /* locations */
	bool any_unwanted; /* in place, perhaps, since some were given back for others
			    */
	bool uprobed; /* the kernel has, or has had, traps of its own in this memory */
	struct sequences_free sequences_free;
	char *refusal; /* why the last location that found no slot since the last
			* resume found none, or NULL */
};

/** "break", "hbreak", "watch", "rwatch", "awatch". */
const char *breakpoint_type_name(enum breakpoint_type type);
/** The one that is equal but for conditions and commands, or NULL. @len counts for
 * watchpoints. */
struct location *location_find(struct breakpoints *breakpoints,
			       enum breakpoint_type type, uint64_t addr,
			       unsigned int len);
/** Replaces its conditions and commands; takes references. 0, or as
 * wanted_state_join(). */
int location_set(struct location *location, const struct agent_list *conditions,
		 const struct commands *commands);
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

/** Switches a location that is not out: LOCATION_IN or LOCATION_SUSPENDED. */
struct error *location_switch(struct location *location, enum location_state state);

/** Memory that is lent to a vfork child must hold no trap of ours. */
bool location_must_stay_off(const struct location *location);

#endif
