/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compiled conditions, loaded and run by the kernel at a real breakpoint of a child
 * process, held against the interpreter. What the machine does not allow is skipped.
 */
#ifndef TRUEHIT_TESTS_COMPILED_H
#define TRUEHIT_TESTS_COMPILED_H

#include "gdbstub/agent/expr.h"
#include "bpf/compiler/compile.h"
#include "bpf/shared/hits.h"
#include "bpf/kernel/kernel.h"
#include "tests/unit/child.h"
#include "tests/unit/expr.h"
#include "tests/unit/values.h"

enum {
	NARGS = 6,
	LOCATION = 5,
	MEMORY_SIZE = 128,
	RECORDS_SIZE = 4096,
	LOOP_STEPS = 1000,
	/* Rows of the table of registers, after the arguments. */
	ROW_32 = NARGS,
	ROW_16,
	ROW_8,
	ROW_PC,
	ROW_MISSING,
	NROWS
};

/* What child and test share. */
struct exchange {
	uint64_t args[NARGS];
	uint64_t traps; /* SIGTRAPs that the child got */
	uint64_t calls; /* returns from hit() */
};

/* Also the child's; hits of the child that its handler of SIGTRAP sees clear the first
 * byte. */
extern unsigned char memory[MEMORY_SIZE];

extern struct compiled {
	struct exchange *exchange;
	struct bpf_shared *shared;
	struct ring_buffer *ring;
	struct bpf_hit_record last_record;
	unsigned int nrecords;
	pid_t child;
	struct turns turns;
	int shared_fd, ring_fd;
	int blocked_offset; /* task_struct.blocked; -1: not known */
} fixture;

/** The breakpoint is here: the arguments are in known registers. */
void hit(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f);

void set_up(void);
/** The child blocks SIGTRAP. */
void set_up_blocked(void);
void tear_down(void);

/* ---- programs ---- */

struct bpf_compile_options default_options(void);
/** bpf_compile(), of an array of conditions and no commands. */
struct error *compile(struct agent_expr **exprs, size_t count,
		      const struct bpf_compile_options *options, struct bpf_code *ret);
/** An event at hit() in the child that runs the program; closed by the caller. */
int attach(int program, bool sigtrap);
/** An event with a program; -E2BIG: the verifier gives up on its loops, so that the
 * stub would decide. */
int try_start(struct agent_expr **exprs, size_t count,
	      const struct bpf_compile_options *options, bool sigtrap);
/** The same; there is no -E2BIG. */
int start(struct agent_expr **exprs, size_t count,
	  const struct bpf_compile_options *options, bool sigtrap);

/** $reg == @value */
struct agent_expr *reg_equals(uint16_t reg, uint8_t value);

/* ---- hits ---- */

/** The first two arguments of hit(). */
void set_args(uint64_t a, uint64_t b);
/** Lets the child call hit(); it has returned. */
void call_hit(void);
void await_return(void);
/** Reads the ring: how many records there were. The last one is in the fixture. */
unsigned int take_records(void);
/** What the counters and the ring tell of the one hit since the last call. */
enum bpf_verdict take_verdict(void);
/** All of it. */
enum bpf_verdict run(void);

/* ---- the truth ---- */

/** By the interpreter; what it cannot evaluate is a maybe. */
enum bpf_verdict interpret(const struct agent_expr *expr, uint64_t *value);
/** Runs it; a loop may be a maybe, as the kernel gives it fewer rounds. */
enum bpf_verdict expect_as_interpreted(const struct agent_expr *expr);

/** Where operands come from: a register, a slot, a slot on BPF's stack. */
enum source { FROM_REGISTER, FROM_SLOT, FROM_DEEP_SLOT, NSOURCES };

void push_argument(struct text *t, uint16_t number, enum source source);
/** Puts what comes next on BPF's stack, if it is to be there. */
void push_ballast(struct text *t, enum source source);
/** Runs an operation for every pair of values, once with the right result expected in
 * $a2 and once with a wrong one. */
void try_pairs(const struct text *operation, unsigned int noperands);

#endif
