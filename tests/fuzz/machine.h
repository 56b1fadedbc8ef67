/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A traced child that runs onto a breakpoint with given registers and memory, and
 * what kernel and interpreter make of that hit.
 */
#ifndef TRUEHIT_FUZZ_MACHINE_H
#define TRUEHIT_FUZZ_MACHINE_H

#include "gdbstub/agent/list.h"
#include "bpf/kernel/kernel.h"
#include "bpf/placement/program.h"
#include "gdbstub/inferior/inferior.h"
#include "tests/fuzz/program.h"

struct machine {
	struct roles roles;
	struct variables variables;
	struct inferiors inferiors;
	struct thread *thread;
	int fresh; /* file of the memory that is never touched */
	struct bpf_kernel kernel;
	struct programs programs;
	const struct fuzz_program *planted; /* whose traps are planted */
	struct program *program;	    /* the one that is loaded, or NULL */
	int event;			    /* its event, or -1 */
	unsigned int loads;		    /* since the last pause for the kernel */
	struct regs regs;		    /* of the child, at the hit */
	enum bpf_verdict recorded;	    /* by the last hit */
	unsigned int records;		    /* of the last hit */
};

/** What the interpreter saw on its way. */
struct interpretation {
	enum bpf_verdict verdict; /* BPF_MAYBE: it failed */
	uint64_t value;
	bool divided_by_zero, looped, no_register, unreadable;
	bool elsewhere; /* it read memory that may not be resident */
	bool planted;	/* it read bytes under a trap, or between traps */
};

/** Makes the child and what it needs of the kernel. */
struct error *machine_init(struct machine *machine);
/** Legal after a failed machine_init, too. */
void machine_deinit(struct machine *machine);

/**
 * Compiles and loads the conditions in place of the last ones. Programs that the
 * verifier refuses are no error: machine->program->refused tells. @emulated: signed
 * division is not left to BPF.
 */
struct error *machine_load(struct machine *machine, const struct agent_list *conditions,
			   bool emulated);

/** Memory that was never touched is so again. */
void machine_refresh(struct machine *machine);
/** Plants the program's traps. */
void machine_plant(struct machine *machine, const struct fuzz_program *program);
/** Sets registers and trace state variables, and the selector register. */
void machine_set(struct machine *machine, const struct fuzz_state *state,
		 uint64_t selector);
void machine_set_variables(struct machine *machine, const uint64_t *values);
void machine_get_variables(const struct machine *machine, uint64_t *values);
/** One hit. */
struct error *machine_hit(struct machine *machine, enum bpf_verdict *verdict);
/** The interpreter on the same state. What it reads becomes resident, so that the
 * kernel goes first. */
void machine_interpret(struct machine *machine, const struct agent_expr *expr,
		       struct interpretation *result);
/** Does the compiler leave all of the expression to the stub, from its first operation
 * on? */
bool machine_gives_up(struct machine *machine, struct agent_expr *expr);
/** Loads what all of those are compiled to. */
struct error *machine_load_maybe(struct machine *machine);
/** Why the compiler leaves paths of the expression to the stub. The caller frees the
 * text; NULL: it does not. */
char *machine_undecided(struct machine *machine, struct agent_expr *expr);

#endif
