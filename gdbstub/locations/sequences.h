/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Locations in restartable sequences (rseq(2)), as the program's files describe them
 * (gdbstub/symbols/elf_sequences.h): an instruction in one has to be executed in its
 * place, and a thread that stops there begins it anew. Sequences of other kinds (made
 * when the program runs, or of a stripped file) are met at hits
 * (bpf/placement/sequence.h).
 */
#ifndef TRUEHIT_LOCATIONS_SEQUENCES_H
#define TRUEHIT_LOCATIONS_SEQUENCES_H

#include <stdbool.h>

#include "gdbstub/symbols/mapping.h"

struct location;

enum { SEQUENCES_FREE_MAX = 64 };

/** Files of an inferior that have none, which are asked once; the last ones. */
struct sequences_free {
	struct file_id files[SEQUENCES_FREE_MAX];
	unsigned int next;
};

/** Is the location in one? @file: what is mapped there, or NULL: it is looked up. Sets
 * location->restartable. */
bool sequences_cover(struct location *location, const struct file_id *file);
/** Is any of the @len bytes from the location on in one? */
bool sequences_near(const struct location *location, unsigned int len);

#endif
