/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A BPF program at an instruction of one process: a uprobe (the kernel's
 * kernel/events/uprobes.c). It belongs to a place of a *file*, and so the kernel puts
 * its trap into every private mapping of that place that the process has or will make,
 * before and after a dlclose: the PC that the program sees tells where the hit was.
 */
#ifndef TRUEHIT_BPF_KERNEL_UPROBE_EVENT_H
#define TRUEHIT_BPF_KERNEL_UPROBE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "gdbstub/base/error.h"
#include "bpf/emit/compile_options.h"
#include "bpf/kernel/uprobe_target.h"

/** How this kernel is asked for uprobes: see uprobe_choose (uprobe_trial.h). */
struct uprobe_options {
	/* By a link of BPF_TRACE_UPROBE_MULTI (Linux 6.6; closed in parallel), whose
	 * programs are loaded for that; else by a perf event of the type .perf_type. */
	bool multi;
	uint32_t perf_type;
	/* Programs may set the PC (Linux 7.2 lets them, 6.18 does not), and then the
	 * instruction is not executed: threads can be stopped before it
	 * (bpf_site.redirects). */
	bool redirects;
};

/** What its programs are loaded for. */
enum bpf_kind uprobe_kind(const struct uprobe_options *options);

/** What the kernel calls its perf events that are uprobes. Negative errno: it has
 * none. */
int uprobe_perf_type(void);

/**
 * Makes the program (BPF_PROG_TYPE_KPROBE) run whenever a thread of process @pid is
 * about to execute the instruction, from now on; not in other processes. A forked child
 * has a copy of the trap, at which nothing happens, until it comes there (perf event)
 * or the probe is closed (multi link). Whether there is a trap is to be seen in memory.
 *
 * Tasks that share the memory without being threads of the process (vfork,
 * clone(CLONE_VM)) find the same trap. A multi link's program does not run for them,
 * they can have a link of their own; that of a perf event does.
 * When the process's first thread ends, the probe is as good as lost: a perf event ends
 * with it; a multi link's trap goes when anybody closes another probe of the same place
 * in the file, and nothing is put into what is mapped later.
 *
 * Returns the descriptor that holds it, or a negative errno: see uprobe_event_error.
 * It is the caller's; closing it may take 100 ms: bpf/kernel/background_close.h.
 */
int uprobe_event_open(const struct uprobe_options *options,
		      const struct uprobe_target *target, pid_t pid, int program_fd);

/** What a failed uprobe_event_open means to the user. */
struct error *uprobe_event_error(const struct uprobe_options *options, int err);

#endif
