/* SPDX-License-Identifier: BSD-2-Clause */
/* A process that is launched or attached to, and its events. A step that fails fails
 * the test. */
#ifndef TRUEHIT_TESTS_LAUNCHED_H
#define TRUEHIT_TESTS_LAUNCHED_H

#include "gdbstub/inferior/event.h"
#include "gdbstub/inferior/inferior.h"
#include "gdbstub/tracing/launch.h"

struct fixture {
	struct inferiors inferiors;
	struct inferior *inferior;
	struct thread *leader;
};

void launch_as(struct fixture *f, const struct launch_options *options);
/** The path of tests/progs/target. */
const char *target(void);
/** target ACTION [ARGUMENT] */
void launch(struct fixture *f, const char *action, const char *argument);

/** Waits for it. */
struct event next_event(struct fixture *f);
void expect_event(struct fixture *f, enum event_kind kind, struct event *event);
/** Its end, which is that of the fixture. */
void expect_exit(struct fixture *f, int status);
/** Nothing is left of it, nor of the fixture. */
void kill_all(struct fixture *f);

uint64_t pc_of(const struct thread *thread);
/** A value of the auxiliary vector. */
uint64_t auxv(const struct inferior *inferior, uint64_t type);
uint64_t linker_entry(struct inferior *inferior);

#endif
