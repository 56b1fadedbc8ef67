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
 * So a thread is continued by PTRACE_SINGLESTEP then, and is brought out of the
 * kernel's step before a step of its own. If it was not in one after all, the end of
 * the former comes as a SIGTRAP of TRAP_TRACE, and what was meant follows.
 *
 * An instruction that enters the kernel would end it otherwise: perf events are not
 * used there (engine perf_event).
 */
#ifndef TRUEHIT_TRACING_HIT_STEP_H
#define TRUEHIT_TRACING_HIT_STEP_H

#include "gdbstub/inferior/inferior.h"

/** May a stopped thread be in it, so that it is to be continued by a step? */
bool hit_step_may_be(const struct thread *thread);
/** May it be in one that would swallow a step of its own? A hit that comes during a
 * step of ours does not. */
bool hit_step_may_swallow(const struct thread *thread);
/**
 * The thread was resumed by PTRACE_SINGLESTEP instead of another request: does this
 * signal stop (@info) only say that it made a step? Then the other request is to
 * follow, by the same rule again.
 */
bool hit_step_explains(const struct thread *thread, const siginfo_t *info);
/**
 * Brings a stopped thread out of it, by a step somewhere else. It is where it was, and
 * takes a signal as before. 0, or -EAGAIN: it stopped for something else, of which a
 * wait will tell (it counts as running).
 */
int hit_step_end(struct thread *thread);

#endif
