/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside the generator of programs. generate.c makes programs out of actions, and the
 * registers to run them on; terms.c puts what computes (values, addresses, operations
 * on cells); flow.c puts jumps and loops around blocks of actions.
 *
 * Everything that is put knows how many cells are on the stack, and leaves it so that
 * the program stays valid: paths that join are brought to the same depth first.
 */
#ifndef TRUEHIT_FUZZ_GENERATOR_H
#define TRUEHIT_FUZZ_GENERATOR_H

#include "tests/fuzz/program.h"
#include "tests/unit/rng.h"

enum { NESTING_MAX = 4 }; /* blocks within blocks, values within values */

struct generator {
	struct rng rng;
	const struct roles *roles;
	struct fuzz_program *program;
	struct text *text;
	unsigned int depth;	/* cells on the stack */
	unsigned int floor;	/* ... of which these are left alone */
	unsigned int depth_max; /* no action begins above */
	unsigned int nesting;	/* blocks within blocks */
	unsigned int terms;	/* values within values */
	unsigned int actions;	/* left to do */
	unsigned int jumps;	/* left to do: each may double the verifier's work */
	bool careless;		/* may read memory that is not there */
	bool strange;		/* may read other registers */
	bool loops;		/* may jump backwards */
	bool variables;		/* may read and set trace state variables */
	uint64_t addresses[FUZZ_TRAPS]; /* some that it reads */
	unsigned int naddresses;	/* ... of all so far */
};

static inline unsigned int below(struct generator *g, unsigned int n)
{
	return rng_below(&g->rng, n);
}

static inline bool chance(struct generator *g, unsigned int percent)
{
	return rng_chance(&g->rng, percent);
}

/** How many cells may be taken away. */
static inline unsigned int free_cells(const struct generator *g)
{
	return g->depth - g->floor;
}

/* ---- terms.c ---- */

/** An operation that is no jump, or a jump whose target is known. */
void put_op(struct generator *g, enum agent_code code, uint64_t operand);
void put_constant(struct generator *g, uint64_t number);
void put_register(struct generator *g);
/** Any value: one cell more. */
void put_value(struct generator *g);
/** What a jump may test: one cell more. */
void put_condition(struct generator *g);
/** Any operation on the top of the stack alone, on two cells. */
void put_unary(struct generator *g);
void put_binary(struct generator *g);
/** Moves cells about, if there are any. */
void put_shuffle(struct generator *g);
/** Brings the stack to a depth, not below the floor. */
void put_level(struct generator *g, unsigned int depth);

/* ---- flow.c ---- */

/** Jumps, and what is between them. */
void put_jump(struct generator *g);

/* ---- generate.c ---- */

/** At most so many actions, at most as many as are left. */
void put_block(struct generator *g, unsigned int actions);

#endif
