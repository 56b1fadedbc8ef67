/* SPDX-License-Identifier: BSD-2-Clause */
/* Debug registers over ptrace: what else there is to do than engine_ops tells. */
#ifndef TRUEHIT_STOPS_DEBUGREG_H
#define TRUEHIT_STOPS_DEBUGREG_H

#include "stops/engine.h"

/** A thread that was late (thread->debugreg_stale) has stopped: its debug registers
 * become what they should be, before it runs. */
void debugreg_catch_up(const struct engine *engine, struct thread *thread);

#endif
