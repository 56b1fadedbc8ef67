/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Planted traps: breakpoint instructions in the program's text, whoever has written
 * them there (int3.c, or the kernel for its uprobes). They can be seen in memory, and
 * must not be.
 */
#ifndef TRUEHIT_TEXT_TRAP_H
#define TRUEHIT_TEXT_TRAP_H

#include "gdbstub/locations/location.h"

enum trap_kind {
	TRAP_INSN,     /* the breakpoint instruction */
	TRAP_DISTINCT, /* arch_ops.distinct_trap, which the kernel does not take for its
			* own */
	TRAP_JUMP,     /* a jump to a pad that has the trap (gdbstub/pads/) */
};

/** What a location that has a trap knows of it. */
struct trap {
	enum trap_kind kind;
	uint8_t planted[TRAP_CODE_MAX]; /* what is written */
	unsigned int len;		/* so many bytes of it are written */
	/* The program's own bytes: those under the trap, and some that follow them, by
	 * which the code can be told from another's. */
	uint8_t original[TRAP_CODE_MAX];
	unsigned int known; /* how many, the trap's at least */
};

/**
 * Notes the program's own bytes at a location: from now on it is one with a trap, in
 * text as long as it is LOCATION_IN. 0 or a negative errno (then it is not).
 */
int trap_note(struct location *location);
void trap_forget(struct location *location);
/** A jump of these @span bytes, at most TRAP_CODE_MAX, is to be there instead of a
 * breakpoint instruction; after the first @len of them the text has them already. */
void trap_be_jump(struct location *location, const uint8_t *bytes, unsigned int len,
		  unsigned int span);
bool trap_is_jump(const struct location *location);
/**
 * In memory with uprobes, the kernel takes a breakpoint instruction for its own where
 * anybody has a uprobe at the same place of the file, in whatever process: nobody
 * stops, and it is taken out with that uprobe (kernel/events/uprobes.c, handle_swbp and
 * register_for_each_vma). Another trap is to be there instead, if the processor has
 * one.
 */
void trap_be_distinct(struct location *location);
/** Notes the code at a planted trap anew, so that it is the one that it was set in. 0
 * or a negative errno. */
int trap_know(const struct location *location);

/** Writes the trap into the text, noting anew what was there. 0 or a negative errno. */
int trap_plant(struct location *location);
/** The same if what is there begins with this code; else nothing is written: -ESTALE.
 */
int trap_plant_over(struct location *location, const uint8_t *code, unsigned int len);
/** Writes the original back, if the trap is still there. 0 or a negative errno. */
int trap_lift(const struct location *location);
/** Is it there? The program may have mapped something else. */
bool trap_is_planted(const struct location *location);

/**
 * Has the memory at the location, traps aside, the code that it was set in? It may be
 * other memory by now. Of trap->known bytes that were read there:
 */
bool trap_is_code_of(const struct location *location, const uint8_t *bytes);
bool trap_is_code(const struct location *location);

/** The location whose trap is planted (in place, not suspended) at @addr, or NULL. In
 * memory that inferiors share, it may be another's. */
struct location *trap_at(struct inferior *inferior, uint64_t addr);

/**
 * The location of the engine's whose trap the thread has just executed, without the
 * kernel taking it for its own: the thread is put back there. NULL: the event is none
 * of such.
 */
struct location *trap_executed(const struct event *event, const struct engine *engine);

/**
 * Moves a thread that hit a trap in vain past it, if a trap is what the program
 * has there itself: stepping over ours would run into that one. False: it has not.
 */
bool trap_skip_own(struct thread *thread);

/** Writes a location's original bytes into a copy of the process (a fork). */
int trap_clean(const struct location *location, struct inferior *child);

#endif
