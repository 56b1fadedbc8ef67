/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random programs, and random registers to run them on. Both depend on nothing but
 * the numbers that they are made from (and the processor's registers).
 */
#ifndef TRUEHIT_FUZZ_GENERATE_H
#define TRUEHIT_FUZZ_GENERATE_H

#include "tests/fuzz/program.h"

/** Makes program @index of @seed. Few are not valid; agent_expr_create tells. */
void generate_program(struct fuzz_program *program, const struct roles *roles,
		      uint64_t seed, uint64_t index);
/** What one run of it finds. */
void generate_state(struct fuzz_state *state, const struct fuzz_program *program,
		    const struct roles *roles, uint64_t seed, uint64_t index,
		    unsigned int number);

#endif
