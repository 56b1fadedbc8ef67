/* SPDX-License-Identifier: BSD-2-Clause */
/* What a hit that comes to nothing costs, by the kind of its stop. */
#ifndef TRUEHIT_LOCATIONS_HIT_COSTS_H
#define TRUEHIT_LOCATIONS_HIT_COSTS_H

#include "gdbstub/base/buffer.h"

/** Nanoseconds per hit with a program that says false; 0: there are none here. */
struct hit_costs {
	unsigned int hardware_ns; /* a hardware breakpoint */
	unsigned int emulated_ns; /* a uprobe whose instruction the kernel emulates */
	unsigned int stepped_ns;  /* ... has the processor step over a copy of */
};

/** Appends one of them for people: "0.5 us", "80 ns", "an unknown time". */
void hit_costs_append(unsigned int ns, struct buffer *out);

#endif
