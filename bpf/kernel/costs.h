/* SPDX-License-Identifier: BSD-2-Clause */
/* Measures what a hit that comes to nothing costs on this machine. */
#ifndef TRUEHIT_BPF_KERNEL_COSTS_H
#define TRUEHIT_BPF_KERNEL_COSTS_H

#include "arch/arch.h"
#include "bpf/kernel/background_close.h"
#include "bpf/kernel/uprobe_event.h"
#include "gdbstub/locations/hit_costs.h"

/**
 * Measures them by some dozens of hits each of a child made for it, in a few
 * milliseconds.
 * @uprobes: NULL: there are none. The probes are closed by @closer.
 */
struct hit_costs hit_costs_measure(const struct arch_ops *arch,
				   const struct uprobe_options *uprobes,
				   struct background_close *closer);

#endif
