/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How threads are resumed that may be in the kernel's own step over a hit
 * (kernel_step.h): a thread is continued by PTRACE_SINGLESTEP then, and is brought out
 * of the kernel's step before a step of its own. If it was not in one after all, the
 * end of the former comes as a SIGTRAP of TRAP_TRACE, and what was meant follows.
 *
 * Perf events are not used at instructions that enter the kernel (engine perf_event).
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
