/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs of 32 bits, which the kernel runs beside ours (it calls them compat tasks).
 * struct arch_ops is not about them: where their registers are, what an instruction
 * is, which of them make a trap, how the dynamic linker's lists are laid out. So such a
 * process can be continued, interrupted, detached from and killed; its memory is read
 * and written as any; nothing is planted in it.
 *
 * A 64-bit process may execute code of 32 bits now and then (Wine does). It is none of
 * these; its threads have no general registers meanwhile (regs_fetch).
 */
#ifndef TRUEHIT_INFERIOR_COMPAT_H
#define TRUEHIT_INFERIOR_COMPAT_H

#include "gdbstub/inferior/inferior.h"

/** Sets inferior->compat: by the auxiliary vector, which has words of 32 bits then. To
 * be called when a process has got its program. */
void compat_find_out(struct inferior *inferior);
/** The PC of a stopped thread of a compat process. 0 or a negative errno. */
int compat_get_pc(const struct thread *thread, uint32_t *pc);
/** NULL, or, of a compat process, an error that says what can be done with it. */
struct error *compat_refuse(const struct inferior *inferior);

#endif
