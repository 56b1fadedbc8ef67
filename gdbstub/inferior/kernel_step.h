/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The single step by which the kernel takes a thread past a hit of a perf event, with
 * the thread's breakpoints switched off meanwhile (arch_ops.hit_step; aarch64: kernel
 * arch/arm64/kernel/hw_breakpoint.c, breakpoint_handler, reinstall_suspended_bps).
 *
 * Any stop can fall into it: the hit's own, if its program is true, and one for a
 * signal or an interrupt, if it is false. From there
 *   PTRACE_CONT        takes the step back: the breakpoints stay off for good;
 *   PTRACE_SINGLESTEP  ends it, and the thread runs on: nobody is told of a step.
 *
 * An instruction that enters the kernel would end it otherwise.
 */
#ifndef TRUEHIT_INFERIOR_KERNEL_STEP_H
#define TRUEHIT_INFERIOR_KERNEL_STEP_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "arch/arch.h"

/** Is a stopped tracee in it? True of one that has just ended a step of its own, too.
 */
bool kernel_step_is_on(pid_t tid, const struct arch_ops *arch);
/** Is this stop's signal the end of a step, as it comes where a thread that is
 * continued by PTRACE_SINGLESTEP was in none of the kernel's? */
bool kernel_step_is_end(const siginfo_t *info);
/**
 * Brings a stopped tracee out of it, by a step somewhere else: it is where it was.
 * @at_signal: the stop is one for a signal, and so is the one after it. 0: *status is
 * that of a group stop which it has left for this, or 0. -EAGAIN: it has stopped or
 * ended for something else, *status (waitpid(2)); -ESRCH: it is being killed, of which
 * a wait will tell; -ENOTSUP: there is no place for a step.
 */
int kernel_step_end(pid_t tid, const struct arch_ops *arch, bool at_signal,
		    int *status);

#endif
