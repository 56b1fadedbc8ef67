/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs at uprobes, and what is special about their records.
 *
 * A uprobe's program runs before the instruction, but the thread that it stops does so
 * after it, or, with bpf_site.redirects, elsewhere. The record tells what is to be put
 * back: the registers that the context has, and the bytes that the instruction has
 * overwritten (struct insn_store).
 *
 * Opening and closing takes effect some time before or after the call: only hits at
 * bpf_location.armed count, also as the same place of a file can be mapped elsewhere.
 * A program that runs already when that is set to 0 may still finish, and leave a hit.
 *
 * Unlike at a breakpoint's event, the kernel may preempt the program. It runs to its
 * end all the same, whatever is sent to its thread. But since Linux 6.13 programs of
 * this type have their stack in memory of the processor (kernel/bpf/verifier.c,
 * bpf_enable_priv_stack), where another thread that comes to the same program meanwhile
 * has its own. Those with tail calls are excepted: so ours have one, to nothing.
 */
#ifndef TRUEHIT_BPF_UPROBE_UPROBE_PROGRAM_H
#define TRUEHIT_BPF_UPROBE_UPROBE_PROGRAM_H

#include "arch/arch.h"
#include "bpf/shared/hits.h"

/** Where an instruction stores to, by the registers as they are before it. -ENODATA:
 * one of them is not in @regs. */
int uprobe_store_addr(const struct insn_store *store, const struct regs *regs,
		      uint64_t *addr);
/**
 * Has the thread whose registers these are executed the instruction, of this length,
 * and nothing since, by what they tell? @jumps: insn_undo.jumps.
 */
bool uprobe_is_after(const struct bpf_hit_record *record, const struct regs *regs,
		     unsigned int len, bool jumps);
/**
 * Makes of registers, fetched at the stop, those before the instruction. Others than
 * the record has stay as they are, and so do flags that may be the tracer's own
 * (bpf_rule.unsure). 0 or a negative errno, as reg_write.
 */
int uprobe_put_back(const struct bpf_hit_record *record, struct regs *regs);

/** Of a uprobe at @addr, whose instruction is @insn: hits count from now on. */
void uprobe_arm(struct bpf_location *location, uint64_t addr, const uint8_t *insn,
		unsigned int len);

#endif
