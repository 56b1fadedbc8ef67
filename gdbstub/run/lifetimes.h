/* SPDX-License-Identifier: BSD-2-Clause */
/* How inferiors come and go. */
#ifndef TRUEHIT_RUN_LIFETIMES_H
#define TRUEHIT_RUN_LIFETIMES_H

#include "gdbstub/tracing/launch.h"
#include "gdbstub/run/run.h"

/** Blocks SIGCHLD, which run_poll's caller waits for. The engines are not probed yet
 * (engines.h). */
void run_init(struct run *run);
/** Probes them, and tells the user which breakpoints are slow here, or missing. Legal
 * when that has been done; needed before anything is wanted of them. */
void run_try_engines(struct run *run);
/** Kills started inferiors, detaches from attached ones, frees everything. */
void run_deinit(struct run *run);

/** Starts, attaches: as inferior_launch, inferior_attach, with breakpoints. */
struct error *run_launch(struct run *run, const struct launch_options *options,
			 struct inferior **ret);
struct error *run_attach(struct run *run, pid_t pid, struct inferior **ret);
/** Takes breakpoints out, detaches, destroys. Stops the threads if they run. */
void run_detach(struct run *run, struct inferior *inferior, int signal);
void run_kill(struct run *run, struct inferior *inferior);

/**
 * Lets an inferior go on with its persistent commands and without a client: it is
 * not shown to anybody until run_rejoin, which stops all of these.
 */
struct error *run_leave(struct run *run, struct inferior *inferior);
void run_rejoin(struct run *run);

#endif
