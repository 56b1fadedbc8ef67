/* SPDX-License-Identifier: BSD-2-Clause */
/* Registers of stopped tracees, of which nothing but the number is known. */
#ifndef TRUEHIT_INFERIOR_TASK_REGISTERS_H
#define TRUEHIT_INFERIOR_TASK_REGISTERS_H

#include <sys/types.h>

#include "arch/arch.h"

/** Makes @regs empty. */
void regs_init(struct regs *regs, const struct arch_ops *arch);
/** Fetches one regset, of @regs->arch's: 0, -ESRCH (it is not stopped, or gone),
 * -ENODATA (there is none). */
int task_regs_fetch(pid_t tid, struct regs *regs, unsigned int regset);
/** Writes back one that was fetched and changed. 0 or a negative errno, as above. */
int task_regs_store(pid_t tid, const struct regs *regs, unsigned int regset);
/** The same where no more than the PC was changed, of the regset that it is in. */
int task_regs_store_pc(pid_t tid, const struct regs *regs, unsigned int regset,
		       uint64_t pc);

#endif
