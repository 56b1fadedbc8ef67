/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program to be tried. Several are loaded as one, as the conditions of one
 * location: each begins with a look at the selector register, and is false at once
 * if it is not its turn.
 */
#ifndef TRUEHIT_FUZZ_PROGRAM_H
#define TRUEHIT_FUZZ_PROGRAM_H

#include "tests/fuzz/roles.h"
#include "bpf/shared/shadow.h"
#include "tests/unit/assembler.h"

enum {
	BATCH = 16, /* programs loaded as one */
	/* Trace state variables that exist: their numbers are 1 and so on. */
	FUZZ_VARIABLES = 4,
	FUZZ_TRAPS = 4, /* at most */
};

struct fuzz_program {
	struct text text;
	/* Does it read registers that are not general, or memory that may not be
	 * resident? If neither, the kernel should decide it. */
	bool other_registers, other_memory;
	bool variables; /* it reads or sets trace state variables */
	/* Where traps are planted: what is in memory there is not what it should be. */
	struct shadow_range traps[FUZZ_TRAPS];
	unsigned int ntraps;
};

/** What a program is run on, besides memory. */
struct fuzz_state {
	uint64_t registers[ROLES_MAX]; /* roles.general */
	uint64_t variables[FUZZ_VARIABLES];
};

/** An empty one at @position (0 .. BATCH - 1) among those that are loaded as one. */
void fuzz_program_begin(struct fuzz_program *program, const struct roles *roles,
			unsigned int position);
/** Has it nothing that the kernel might leave to the stub? */
bool fuzz_program_is_plain(const struct fuzz_program *program);

#endif
