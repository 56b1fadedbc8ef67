/* SPDX-License-Identifier: BSD-2-Clause */
/* Registers of stopped threads. */
#ifndef TRUEHIT_INFERIOR_REGISTERS_H
#define TRUEHIT_INFERIOR_REGISTERS_H

#include <stdint.h>

#include "arch/arch.h"
#include "gdbstub/inferior/inferior.h"
#include "gdbstub/inferior/task_registers.h"

/** Fetches one regset of a stopped thread: 0, -ESRCH, -ENODATA (not there, or another
 * one, as the thread executes code of 32 bits). Of a
 * thread that has been killed, the one with the PC is what was fetched last. */
int regs_fetch(const struct thread *thread, struct regs *regs, unsigned int regset);
/** Whoever resumes a thread, or changes its registers in another way than by
 * regs_store(), says so before anybody else fetches them. */
void regs_outdate(const struct thread *thread);
/** The thread is resumed: what is left of it if it is killed is nothing, too. */
void regs_forget(const struct thread *thread);
/** Fetches all regsets there are. 0 or -ESRCH. */
int regs_fetch_all(const struct thread *thread, struct regs *regs);
/** Writes one fetched and changed regset back. */
int regs_store(const struct thread *thread, const struct regs *regs,
	       unsigned int regset);
/** Shorthands over the regset that holds the PC. 0 or a negative errno. */
int thread_get_pc(const struct thread *thread, uint64_t *pc);
int thread_set_pc(const struct thread *thread, uint64_t pc);
/** Has a thread that hardware stopped at a breakpoint hit it again when it is resumed
 * there, as it would one in the text (x86: without RF). Negative errno on failure. */
int thread_hit_again(const struct thread *thread);
/** The reverse: it passes one in hardware where it is (x86: with RF). */
int thread_hit_no_more(const struct thread *thread);
/** The thread pointer, and the thread area @index (arch_ops.thread_area), of a
 * stopped thread. 0 or a negative errno. */
int thread_get_pointer(const struct thread *thread, uint64_t *pointer);
int thread_get_area(const struct thread *thread, int index, uint64_t *addr);

/** Is a regset of that many bytes the general one of 32 bits? */
bool regs_are_compat(const struct arch_ops *arch, size_t size);

#endif
