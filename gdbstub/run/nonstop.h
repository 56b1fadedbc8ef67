/* SPDX-License-Identifier: BSD-2-Clause */
/* Non-stop mode: going into it and out of it, and clients that come to it. */
#ifndef TRUEHIT_RUN_NONSTOP_H
#define TRUEHIT_RUN_NONSTOP_H

#include "gdbstub/run/run.h"

/** Changes the mode. All threads stop at the end of non-stop mode. */
void run_set_non_stop(struct run *run, bool on);
/** Non-stop mode, a client asks what is stopped: run_poll reports one thread, each
 * other one when it is asked to stop. */
struct error *run_tell_first(struct run *run);

#endif
