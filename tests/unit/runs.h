/* SPDX-License-Identifier: BSD-2-Clause */
/* Run control on children of the test. A step that fails fails the test. */
#ifndef TRUEHIT_TESTS_RUNS_H
#define TRUEHIT_TESTS_RUNS_H

#include "gdbstub/run/run.h"
#include "tests/unit/child.h"

/** Only this engine may serve, besides int3. */
void use_only(struct run *run, int engine);
/** Attaches to a child; the run's end kills it. */
struct inferior *attach_child(struct run *run, pid_t pid);
/** Waits for it; fails the test if it does not come. */
struct stop wait_stop(struct run *run);

#endif
