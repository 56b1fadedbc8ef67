/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * System calls that a stopped thread makes for us, where only the program itself can do
 * what is wanted: map memory. All of the thread is put back afterwards: registers, the
 * signals that it blocks, and the one that it has stopped for.
 */
#ifndef TRUEHIT_PADS_INJECTED_CALL_H
#define TRUEHIT_PADS_INJECTED_CALL_H

#include <signal.h>
#include <stdint.h>

#include "gdbstub/inferior/inferior.h"
#include "gdbstub/tracing/siginfo.h"

/** A thread that makes calls. */
struct injection {
	struct thread *thread;
	uint64_t insn; /* the address of an instruction that enters the kernel */
	struct regs before;
	unsigned int regset;
	uint64_t mask;
	siginfo_t info;
	bool has_info;
	struct signals_aside aside;
};

/**
 * Finds a thread of the inferior's, all of which are held, that can make calls, and
 * begins. Returns why there is none, for people, or NULL; then injection_end() is due.
 */
const char *injection_begin(struct inferior *inferior, struct injection *ret);
/** What the call returns, or a negative errno of its own or of ours. */
int64_t injection_call(struct injection *injection, long number,
		       const uint64_t arguments[SYSCALL_ARGUMENTS]);
void injection_end(const struct injection *injection);

/** Memory of the thread's below its stack pointer that nothing is in: so many bytes at
 * least. */
uint64_t injection_scratch(const struct injection *injection);
enum { INJECTION_SCRATCH = 64 };

#endif
