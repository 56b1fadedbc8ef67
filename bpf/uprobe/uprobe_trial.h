/* SPDX-License-Identifier: BSD-2-Clause */
/* How uprobes are asked for on this kernel, found out by trial. */
#ifndef TRUEHIT_BPF_UPROBE_UPROBE_TRIAL_H
#define TRUEHIT_BPF_UPROBE_UPROBE_TRIAL_H

#include "arch/arch.h"
#include "gdbstub/base/error.h"
#include "bpf/kernel/background_close.h"
#include "bpf/kernel/uprobe_event.h"

/**
 * The better of the two ways in which a program runs for each thread of the probed
 * process and for nobody else: multi links before Linux 6.10 run it for the first
 * thread only. The error says why neither does it. What it opened is closed by @closer.
 */
struct error *uprobe_choose(const struct arch_ops *arch,
			    struct background_close *closer,
			    struct uprobe_options *ret);

#endif
