/* SPDX-License-Identifier: BSD-2-Clause */
/* Expressions of a location, evaluated in the stub for a stopped thread. */
#ifndef TRUEHIT_HITS_EVALUATE_H
#define TRUEHIT_HITS_EVALUATE_H

#include "gdbstub/locations/engine.h"
#include "gdbstub/locations/output.h"

/** As breakpoints_read_memory. */
typedef ssize_t memory_reader(struct inferior *inferior, uint64_t addr, void *data,
			      size_t len);

/** Does a condition hold, in memory as @read shows it, or is there none? One that fails
 * counts as true. */
bool evaluate_conditions(const struct location *location, struct thread *thread,
			 memory_reader *read);
/**
 * Runs the commands. One that fails is logged, and those after it do not run.
 */
void evaluate_commands(const struct location *location, struct thread *thread,
		       const struct output *output);

#endif
