/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Debug exceptions that say wrongly what they are about. On x86 the processor says it
 * in DR6, and in a virtual machine that may hold an old value. (Seen on KVM with an
 * Intel processor, 4 times in 8 million hits under load, also without ptrace. Until
 * Linux 6.14 KVM could load a guest's DR6 anew after an exit that it handled in its
 * fast path.) The kernel then takes a hit for an int1 instruction, or for the end of a
 * single step, and asks neither a perf event, with its program, nor the debug registers
 * that ptrace has set; all that is left is a SIGTRAP.
 *
 * - At a breakpoint, nothing has been executed, and the flag by which a thread gets
 *   past a hit is not set. So the thread hits again when it goes on: that is the hit.
 * - At a watchpoint, the access is done, and will not be told of again. So each that
 *   the last instruction may have accessed was hit, as far as is known.
 *
 * Of a thread that was stepped, such an exception is the end of the step as well.
 */
#ifndef TRUEHIT_HITS_UNEXPLAINED_H
#define TRUEHIT_HITS_UNEXPLAINED_H

#include "gdbstub/locations/engine.h"

/**
 * If a stop that no engine knows is one of these, and something is in place that it can
 * have been about, its signal is ours, and watchpoints are added to the hits. One that
 * the program itself may have made (arch_ops.trap_is_own) is the program's.
 */
void unexplained_collect(const struct event *event, struct hits *hits);

#endif
