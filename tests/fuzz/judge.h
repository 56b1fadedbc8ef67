/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs programs, holds the kernel's verdicts against the interpreter's, and counts. */
#ifndef TRUEHIT_FUZZ_JUDGE_H
#define TRUEHIT_FUZZ_JUDGE_H

#include "tests/fuzz/machine.h"
#include "tests/fuzz/program.h"

/** Why the kernel left a hit to the stub. */
enum why {
	WHY_ZERO,	/* it divides by zero */
	WHY_UNREADABLE, /* there is no such memory */
	WHY_ABSENT,	/* the page is not resident */
	WHY_PLANTED,	/* traps are there, or around it */
	WHY_REGISTER,	/* the kernel does not have it */
	WHY_LOOP,	/* too many rounds, or the compiler does not take it */
	WHY_DEPTH,	/* more cells than BPF has room for */
	WHY_REFUSED,	/* by the verifier */
	WHY_UNKNOWN,
	WHYS
};

/** For people. */
extern const char *const why_texts[WHYS];

struct sums {
	uint64_t programs;
	uint64_t invalid;   /* of these: refused by agent_expr_create */
	uint64_t refused;   /* of these: by the verifier */
	uint64_t depending; /* of these: true in one state and false in another */
	uint64_t states, wrong;
	uint64_t verdicts[BPF_MAYBE + 1];
	uint64_t why[WHYS];
	/* Of programs with general registers and resident memory only. */
	uint64_t plain_states, plain_maybes, plain_why[WHYS];
	uint64_t loads;
};

struct judge {
	struct machine *machine;
	struct sums *sums;
	uint64_t seed;
	unsigned int states; /* of each program */
	bool verbose;
	/* The load that is under way began then (CLOCK_MONOTONIC, in seconds); 0:
	 * none is. Somebody else may watch it: a load may never end. */
	volatile uint64_t *loading;
};

/** What becomes of a program. */
enum fate {
	FATE_INVALID,
	FATE_COMPILED,
	FATE_GIVEN_UP, /* all of it is left to the stub: a maybe from the start */
	FATES
};

/** Several programs, loaded as one. */
struct batch {
	struct fuzz_program programs[BATCH];
	struct agent_expr *exprs[BATCH]; /* NULL: the program is not valid */
	enum fate fates[BATCH];
	unsigned int count;
};

/** Decodes and checks the programs. */
void judge_prepare(struct judge *judge, struct batch *batch);
/** Loads those of a fate. @emulated: signed division is not left to BPF. */
struct error *judge_load(struct judge *judge, const struct batch *batch, enum fate fate,
			 bool emulated);
/** Gives the expressions back. */
void judge_unload(struct batch *batch);
/**
 * One hit of a batch's program. *@verdict is the kernel's. If it, or what it
 * did to variables, is wrong, or if judge->verbose, everything about it is printed,
 * under @name.
 */
struct error *judge_state(struct judge *judge, const struct batch *batch,
			  unsigned int position, const struct fuzz_state *state,
			  const char *name, enum bpf_verdict *verdict);

/**
 * Makes and runs the random programs @first .. @first + @count - 1, at most BATCH; if
 * @only is one of them, that one alone.
 */
struct error *judge_random(struct judge *judge, uint64_t first, unsigned int count,
			   uint64_t only);

#endif
