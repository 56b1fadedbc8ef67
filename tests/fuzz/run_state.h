/* SPDX-License-Identifier: BSD-2-Clause */
/* What run_filter.c shares with the processor's part of it. */
#ifndef TRUEHIT_FUZZ_RUN_STATE_H
#define TRUEHIT_FUZZ_RUN_STATE_H

#include <signal.h>

#include "tests/fuzz/run_filter.h"

/** A run under way. */
struct run_state {
	const struct arch_ops *arch;
	const struct native_code *code;
	uint8_t *memory;		/* the code, where it is executed */
	uint8_t *stack;			/* after memory that cannot be accessed */
	struct run_registers registers; /* that it begins with, */
	struct run_registers after;	/* and ends with */
	struct run_sums *sums;
};
extern struct run_state run_state;

/** Its bytes, and at the code's end, and RUN_TRAP_LEN bytes after that, what leads
 * back. */
void run_put_code(const struct native_code *code);
/** Executes it. */
enum run_end run_code(bool steps);
/** The handler of its stops and faults. */
void run_on_signal(int signal, siginfo_t *info, void *context);

/** At a stop in it, with these registers (all but the PC). */
void run_check_stop(struct regs *regs, uint64_t offset);

#endif
