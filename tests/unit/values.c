/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/values.h"

const uint64_t edge_values[EDGE_VALUES] = {
	0,
	1,
	2,
	5,
	63,
	64,
	0x7fffffff,
	0x80000000,
	0xffffffff,
	0x100000000,
	0x7fffffffffffffff,
	0x8000000000000000,
	0x8000000000000001,
	(uint64_t)-7,
	(uint64_t)-2,
	UINT64_MAX,
};

uint64_t value_random(struct rng *rng)
{
	uint64_t any = rng_next(rng);

	switch (rng_below(rng, 8)) {
	case 0:
		return any % 32;
	case 1:
		return -(any % 32);
	case 2:
		return edge_values[any % EDGE_VALUES];
	case 3:
		return (UINT64_C(1) << any % 64) + any / 64 % 3 - 1;
	case 4:
		return any % 256;
	case 5:
		return (uint32_t)any;
	case 6:
		return any >> any % 64;
	default:
		return any;
	}
}
