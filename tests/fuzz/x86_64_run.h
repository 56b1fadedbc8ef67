/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Filters (gdbstub/pads/filter.h), executed by this very process with any registers. At
 * each stop in one, by a single step or a fault, what native_ops.restore makes of the
 * thread is held against the registers that it began with.
 */
#ifndef TRUEHIT_FUZZ_X86_64_RUN_H
#define TRUEHIT_FUZZ_X86_64_RUN_H

#include "arch/arch.h"
#include "arch/native.h"

enum {
	RUN_REGISTERS = 16, /* the general ones, as gdb numbers them */
	RUN_FLAGS = 17,	    /* gdb's number of the flags */
	RUN_TRAP_LEN = 14,  /* bytes that take the place of the pad's trap */
};

struct run_registers {
	uint64_t general[RUN_REGISTERS];
	uint64_t flags;
};

enum run_end { RUN_FALSE, RUN_NOT_FALSE, RUN_FAULT, RUN_ENDS };

/** What was seen, added up. */
struct run_sums {
	uint64_t stops, wrong; /* where a restored register is not what it was */
	uint64_t changed;      /* runs after which something is not as it was */
};

/** Once, before the first run. */
void run_init(const struct arch_ops *arch);
/** The filter that runs execute from now on. */
void run_load(const struct native_code *code);
/** Executes it; @steps: instruction by instruction. */
enum run_end run_filter(const struct run_registers *registers, bool steps,
			struct run_sums *sums);
/** A stack pointer with room below it, or, without @room, so little that it faults. */
uint64_t run_stack(unsigned int offset, bool room);

#endif
