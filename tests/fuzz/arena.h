/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory that programs read: two arenas at fixed addresses of the child, one
 * below 2^32 and one above, of units that are resident, not mapped, never touched,
 * or not readable. What is in them is always the same.
 */
#ifndef TRUEHIT_FUZZ_ARENA_H
#define TRUEHIT_FUZZ_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"
#include "tests/unit/rng.h"

/** Around an arena_pointer() there are at least so many resident bytes. */
enum { ARENA_MARGIN = 256 };

/** The file after the units that are never touched, or a negative errno. */
int arena_file(void);
/** Makes them untouched again. */
void arena_refresh(int file);
/** Maps everything, in the child: 0 or a negative errno. */
int arena_map(const struct arch_ops *arch, int file);

/** Where the child runs: a nop, and a breakpoint instruction after it. */
uint64_t arena_code(void);

/** An address of @size bytes that are resident. */
uint64_t arena_resident(struct rng *rng, unsigned int size);
uint64_t arena_pointer(struct rng *rng);
/** The address of 8 resident bytes that hold an arena_pointer(). */
uint64_t arena_pointer_cell(struct rng *rng);
/** An address where at least one of @size bytes is not resident. */
uint64_t arena_elsewhere(struct rng *rng, unsigned int size);

/** Addresses around the borders of all units: the @index-th, or 0 after the last. */
uint64_t arena_border(unsigned int index);

bool arena_is_resident(uint64_t addr, size_t size);

#endif
