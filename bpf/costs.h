/* SPDX-License-Identifier: BSD-2-Clause */
/* What a hit that comes to nothing costs on this machine, by the kind of its stop. */
#ifndef TRUEHIT_BPF_COSTS_H
#define TRUEHIT_BPF_COSTS_H

#include "arch/arch.h"
#include "base/buffer.h"
#include "bpf/closer.h"
#include "bpf/uprobe_event.h"

/** Nanoseconds per hit with a program that says false; 0: there are none here. */
struct hit_costs {
	unsigned int hardware_ns; /* a hardware breakpoint */
	unsigned int emulated_ns; /* a uprobe whose instruction the kernel emulates */
	unsigned int stepped_ns;  /* ... has the processor step over a copy of */
};

/**
 * Measures them by some dozens of hits each of a child made for it, in a few
 * milliseconds.
 * @uprobes: NULL: there are none. The probes are closed by @closer.
 */
struct hit_costs hit_costs_measure(const struct arch_ops *arch,
				   const struct uprobe_options *uprobes,
				   struct closer *closer);

/** Appends one of them for people: "0.5 us". */
void hit_costs_append(unsigned int ns, struct buffer *out);

#endif
