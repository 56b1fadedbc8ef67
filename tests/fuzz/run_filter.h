/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Filters (gdbstub/pads/filter.h), executed by this very process with any registers. At
 * each stop in one, by a step, a trap or a fault, what native_ops.restore makes of the
 * thread is held against the registers that it began with.
 */
#ifndef TRUEHIT_FUZZ_RUN_FILTER_H
#define TRUEHIT_FUZZ_RUN_FILTER_H

#include "arch/arch.h"
#include "arch/native.h"

enum {
	RUN_REGISTERS_MAX = 32,
	RUN_TRAP_LEN = 16, /* bytes that take the place of the pad's trap */
};

/** The processor's registers, by gdb's numbers. */
struct run_machine {
	unsigned int registers; /* the general ones: from 0 up to this */
	unsigned int sp, pc, flags;
	bool aligns_stack; /* to 16 bytes, or accesses fault */
	uint64_t status;   /* of the flags: those that filters have to leave */
	uint64_t others;   /* ... and those that are always set */
	/** The value of another register, which is always the same, or -ENODATA. */
	int (*read_other)(unsigned int number, uint64_t *value);
};
extern const struct run_machine run_machine;

struct run_registers {
	uint64_t general[RUN_REGISTERS_MAX];
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
/** Executes it; @steps: with stops at its instructions. */
enum run_end run_filter(const struct run_registers *registers, bool steps,
			struct run_sums *sums);
/** A stack pointer with room below it, or, without @room, so little that it faults. */
uint64_t run_stack(unsigned int offset, bool room);

#endif
