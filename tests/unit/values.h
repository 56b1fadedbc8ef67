/* SPDX-License-Identifier: BSD-2-Clause */
/* The numbers at which operations go wrong, if they do. */
#ifndef TRUEHIT_TESTS_VALUES_H
#define TRUEHIT_TESTS_VALUES_H

#include <stdint.h>

#include "tests/unit/rng.h"

enum { EDGE_VALUES = 16 };

/** Around 0, and the limits of signed and unsigned numbers of 32 and 64 bits. */
extern const uint64_t edge_values[EDGE_VALUES];

/** A number of 64 bits: small, at an edge, around a power of two, or any. */
uint64_t value_random(struct rng *rng);

#endif
