/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A BPF program at an instruction of one process: a uprobe (the kernel's
 * kernel/events/uprobes.c). It belongs to a place of a *file*, and so the kernel puts
 * its trap into every private mapping of that place that the process has or will make,
 * before and after a dlclose: the PC that the program sees tells where the hit was.
 */
#ifndef TRUEHIT_BPF_TRIALS_UPROBE_EVENT_H
#define TRUEHIT_BPF_TRIALS_UPROBE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "gdbstub/base/error.h"
#include "bpf/emit/compile_options.h"
#include "gdbstub/inferior/inferior.h"
#include "gdbstub/symbols/mapping.h"

/** Where a probe goes. */
struct uprobe_target {
	char *path; /* opens the very file that the inferior has mapped, also if it was
		     * deleted or replaced, or is in another mount name space: as long
		     * as the mapping is as it was. NULL: no target */
	struct file_id file;
	uint64_t offset; /* in the file, bytes */
	uint64_t cookie; /* what a multi link's program is told (emit_where.c) */
};

/**
 * Finds the place of an instruction of @len bytes. It must be in a private mapping of
 * a file that the program cannot write to, and be what the file has there: the kernel
 * runs the file's instruction. Planted traps are not seen. The error says what else
 * the memory is.
 */
struct error *uprobe_target_find(struct inferior *inferior, uint64_t addr,
				 unsigned int len, struct uprobe_target *ret);
/** Legal after a failed find, and twice. */
void uprobe_target_deinit(struct uprobe_target *target);

/** Is the memory at @addr mapped shared (MAP_SHARED), so that others may see stores to
 * it? False also if there is none. */
bool uprobe_memory_is_shared(const struct inferior *inferior, uint64_t addr);

/** A mapping of a file that may have the kernel's traps. */
struct uprobe_text {
	struct file_id file;
	uint64_t start, end; /* addresses */
	uint64_t offset;     /* in the file, of the start */
};

/** Which one has the address? False: none. */
bool uprobe_text_find(const struct inferior *inferior, uint64_t addr,
		      struct uprobe_text *ret);

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
