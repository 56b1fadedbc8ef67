/* SPDX-License-Identifier: BSD-2-Clause */
/* Expressions of a location, evaluated in the stub for a stopped thread. */
#ifndef TRUEHIT_STOPS_EVALUATE_H
#define TRUEHIT_STOPS_EVALUATE_H

#include "stops/engine.h"
#include "stops/output.h"

/** Does a condition hold, or is there none? One that fails counts as true. */
bool evaluate_conditions(const struct location *location, struct thread *thread);
/**
 * Runs the commands. One that fails is logged, and those behind it do not run.
 */
void evaluate_commands(const struct location *location, struct thread *thread,
		       const struct output *output);

#endif
