/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Run control of children of the test that pass a place: their functions are the
 * test's, at known addresses. A step that fails fails the test.
 */
#ifndef TRUEHIT_TESTS_RUN_PLACE_H
#define TRUEHIT_TESTS_RUN_PLACE_H

#include <stdatomic.h>

#include "gdbstub/run/lifetimes.h"
#include "gdbstub/run/run.h"
#include "tests/unit/expr.h"
#include "tests/unit/runs.h"

enum { LOOPS = 250, THREADS = 8 };

/* What children count, seen by the test. */
struct shared {
	atomic_long passed; /* iterations that went by the place */
	atomic_int go;
};

extern struct shared *shared;
extern struct run run;

void set_up(void);
void tear_down(void);

/* ---- what children do ---- */

/** The place to stop at: its first instruction, with @i in a register. */
void place(long i);
void other_place(void);
/** Passes the place LOOPS times. */
void *loop(void *arg);
/** The same; 42. */
int run_loop(void);
/** The same by THREADS threads; 7. */
int run_threads(void);

/* ---- run control ---- */

/** A child that runs @body as soon as it is attached to and let go. */
struct inferior *launch(int (*body)(void));
/** Of all threads. */
void set_actions(struct resume_action action);
/** Continues all, steps one, up to a stop. */
struct stop resume(void);
struct stop step(pid_t tid);
uint64_t pc_of(pid_t tid);
/** Continues to the end. */
void expect_exit(int status);

/* ---- breakpoints ---- */

uint64_t address(void (*function)(void));
#define PLACE address((void (*)(void))place)
/** The number of the register of the first argument of place(). */
uint8_t argument_register(void);
/** The condition "first argument of place() == value", as gdb would send it. */
struct agent_expr *argument_equals(uint16_t value);
/** Unreferences the condition, or NULL. */
void insert(struct inferior *inferior, enum breakpoint_type type, uint64_t addr,
	    struct agent_expr *condition);
/** As gdb does: takes it out, steps the thread alone, puts it in again. */
void step_off_at(struct inferior *inferior, pid_t tid, enum breakpoint_type type,
		 uint64_t addr, struct agent_expr *condition);
void step_off(struct inferior *inferior, pid_t tid, enum breakpoint_type type,
	      struct agent_expr *condition);

#endif
