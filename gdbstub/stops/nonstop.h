/* SPDX-License-Identifier: BSD-2-Clause */
/* Non-stop mode: which stops the client knows of. */
#ifndef TRUEHIT_STOPS_NONSTOP_H
#define TRUEHIT_STOPS_NONSTOP_H

#include "stops/run.h"

/** Does the client know of this thread's last stop, or that it runs? What it asks of
 * one that it knows wrongly is ignored. */
bool nonstop_is_known(const struct run *run, const struct thread *thread);
/** A stop of one of its threads was reported: does the client still wait for others?
 * If not, it does not expect to hear of the process's end. */
void nonstop_reported(struct inferior *inferior);
/** Is any thread resumed that has not ended? */
bool nonstop_any_resumed(const struct run *run);

/** Changes the mode. All threads stop at the end of non-stop mode. */
void run_set_non_stop(struct run *run, bool on);
/** Non-stop mode, a client asks what is stopped: run_poll reports one thread, each
 * other one when it is asked to stop. */
struct error *run_tell_first(struct run *run);
/** The client knows of the stop that run_poll has reported last. Until then, what it
 * wants of that thread is ignored. */
void run_acknowledge(struct run *run);

#endif
