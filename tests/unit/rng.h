/* SPDX-License-Identifier: BSD-2-Clause */
/* The random numbers of all tests, the same everywhere: splitmix64 (Steele, Lea, Flood,
 * "Fast splittable pseudorandom number generators", 2014). */
#ifndef TRUEHIT_TESTS_RNG_H
#define TRUEHIT_TESTS_RNG_H

#include <stdbool.h>
#include <stdint.h>

/* {seed} is a stream of its own. */
struct rng {
	uint64_t state;
};

static inline uint64_t rng_next(struct rng *rng)
{
	uint64_t z = rng->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/** The stream of numbers that three numbers name. */
static inline struct rng rng_make(uint64_t seed, uint64_t index, uint64_t stream)
{
	struct rng rng = {seed};

	rng.state = rng_next(&rng) ^ index;
	rng.state = rng_next(&rng) ^ stream;
	return rng;
}

/** 0 .. n - 1; n is small, so that what is left of evenness does not matter. */
static inline unsigned int rng_below(struct rng *rng, unsigned int n)
{
	return (unsigned int)((rng_next(rng) >> 32) * n >> 32);
}

/** True in @percent of 100 cases. */
static inline bool rng_chance(struct rng *rng, unsigned int percent)
{
	return rng_below(rng, 100) < percent;
}

#endif
