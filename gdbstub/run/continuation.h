/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Does the client only continue? While it steps, gdb has breakpoints of its own
 * (step-resume, say) for which it sends nothing where another breakpoint is in place
 * already, and which have no condition. So what its extension hands over for
 * breakpoints (QTruehit.WatchCondition) holds only from a resume that the extension has
 * announced, and for as long as the client does nothing but to have threads continue,
 * or to step one over a breakpoint, as it does before it continues from there: over an
 * instruction that is no branch, so that no function was entered or left. It holds no
 * longer once the client has written registers, as for a call of a function, or gives a
 * signal, after whose handler gdb may want a stop.
 *
 * lldb's extension announces nothing but commands that continue, while no step is
 * unfinished, and says when the user sees a stop. A step from a breakpoint is then one
 * over it, whatever the instruction is.
 */
#ifndef TRUEHIT_RUN_CONTINUATION_H
#define TRUEHIT_RUN_CONTINUATION_H

#include "gdbstub/control/run_state.h"

/** A command of the user's begins to resume threads. Nothing runs. @only_continues: it
 * is one that steps over breakpoints, and does nothing else but to continue. */
struct error *continuation_begin(struct run *run, bool only_continues);
/** What is handed over holds no longer, from the next resume on. */
void continuation_disturb(struct run *run);
/** Before threads are resumed by their actions: does it still hold? */
struct error *continuation_check(struct run *run);

#endif
