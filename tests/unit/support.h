/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What several tests need: rights, programs in the kernel, uprobes in the test's own
 * process. All of it fails the test that asks, or skips it
 * where the machine or the user lacks something.
 */
#ifndef TRUEHIT_TESTS_SUPPORT_H
#define TRUEHIT_TESTS_SUPPORT_H

#include "bpf/placement/program.h"
#include "bpf/kernel/uprobe_event.h"
#include "gdbstub/inferior/inferior.h"

/* ---- rights ---- */

/** Skips the test for an error for want of rights; no other is legal. */
void skip_unless(struct error *error);
/** Gives all capabilities up but those of the mask. */
void keep_rights(uint64_t capabilities);

/* ---- the machine ---- */

/** Does QEMU emulate this x86_64? That makes some mistakes. */
bool is_emulated(void);
/** Skips the test there: a single step of an instruction that hits a watchpoint hangs
 * the processor, and the machine with it (QEMU 7.2). */
void need_steps_over_watched(void);
/** Skips the test where they never fire, as in some virtual machines. */
void need_breakpoint_registers(void);
/** This process survives debug exceptions with a wrong reason
 * (gdbstub/hits/unexplained.h): the thread is still at the breakpoint, and hits it
 * again. Any other SIGTRAP ends it. */
void survive_unexplained_traps(void);

/* ---- programs ---- */

void no_record(void *data, const struct bpf_hit_record *record);
/** Maps and programs of this processor, deinitialised by the caller. */
void start_programs(struct bpf_kernel *kernel, struct programs *programs,
		    bpf_record_fn *on_record, void *data);

/* ---- uprobes ---- */

/** Uprobes made as multi links or as perf events, by root only. */
struct uprobe_options use_uprobes(bool multi);
/** A program for them, of instructions. Its descriptor. */
int load_for_uprobe(const struct uprobe_options *options, const struct bpf_insn *insns,
		    size_t count);
/** uprobe_target_find() in a process that nobody has probes in. */
struct error *find_target(pid_t pid, const void *addr, unsigned int len,
			  struct uprobe_target *target);
/** Is that a trap? */
bool is_trapped(const void *addr);

/** A test in two suites, by multi links and by perf events, after begin(multi). */
#define BOTH(name)                                                                     \
	static void name(void);                                                        \
	Test(uprobe_multi, name)                                                       \
	{                                                                              \
		begin(true);                                                           \
		name();                                                                \
	}                                                                              \
	Test(uprobe_perf, name)                                                        \
	{                                                                              \
		begin(false);                                                          \
		name();                                                                \
	}                                                                              \
	static void name(void)

#endif
