/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The engine of perf events on a child of the test. A step that fails fails the test;
 * what the machine does not allow is skipped.
 */
#ifndef TRUEHIT_TESTS_PERF_CHILD_H
#define TRUEHIT_TESTS_PERF_CHILD_H

#include "gdbstub/tracing/wait.h"
#include "gdbstub/locations/engine.h"
#include "tests/unit/child.h"
#include "tests/unit/expr.h"

enum { GOOD_STATUS = 7 };

/** Of the child, at the same address. */
extern volatile uint64_t counter;

/** A function to stop at. */
#define PLACE(name)                                                                    \
	static __attribute__((noinline)) void name(void)                               \
	{                                                                              \
		__asm__ volatile("" ::: "memory");                                     \
	}

extern struct fixture {
	struct engine engine;
	struct inferiors inferiors;
	struct inferior *inferior;
	pid_t pid;
	struct event event;
	struct hits hits;
	unsigned int stops; /* of the signals that the engine calls its own */
} fixture;

void set_up(void);
void tear_down(void);

/** A child that does this once it is traced and resumed, and exits with GOOD_STATUS. */
void start(void (*run)(void));
/** The next event that is no thread starting or ending; its hits. */
enum event_kind next(void);
void expect_good_end(void);
/** Of the thread that has stopped. */
uint64_t pc(void);
/** The child's. */
uint64_t counter_there(void);

/* ---- locations ---- */

/** counter == @value */
struct agent_expr *condition(uint64_t value);
/** Takes the condition, or NULL. */
struct error *try_insert(struct location *location, enum breakpoint_type type,
			 const volatile void *addr, struct agent_expr *expr);
void insert(struct location *location, enum breakpoint_type type,
	    const volatile void *addr, struct agent_expr *expr);
/** @gone: the process is. */
void take_out(struct location *location, bool gone);
/** So many, and no maybe. */
void expect_counts(const struct location *location, uint64_t hits, uint64_t trues);
/** The event is one true hit; is the signal the engine's? */
void expect_hit(const struct location *location, bool ours);

#endif
