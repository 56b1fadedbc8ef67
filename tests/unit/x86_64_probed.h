/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs at uprobes of a child, on x86-64. A step that fails fails the test; what the
 * machine does not allow is skipped.
 */
#ifndef TRUEHIT_TESTS_X86_64_PROBED_H
#define TRUEHIT_TESTS_X86_64_PROBED_H

#include <criterion/criterion.h>

#include "bpf/uprobe/uprobe_program.h"
#include "bpf/placement/program.h"
#include "bpf/kernel/uprobe_event.h"
#include "gdbstub/inferior/registers.h"
#include "tests/unit/child.h"
#include "tests/unit/expr.h"

enum { ROUNDS = 10 };
enum { TF = 0x100, RF = 0x10000 };

/* ---- what the child runs ---- */

/* CF, PF, AF, ZF, SF, DF, OF, NT, AC and ID; the interrupt flag is on anyway. */
enum { FLAGS = 0x0244cd5 & ~TF, PLAIN_FLAGS = 0x202 };

/** In a page of its own, which nobody has touched before the child. */
extern uint64_t cell[512];

/** The latter sets flags first: steps over popf would leave the kernel in doubt whose
 * trap flag it is. */
void probed(uint64_t flags, uint64_t value, uint64_t index);
void probed_with_flags(uint64_t flags, uint64_t value, uint64_t index);
extern const char at_nop[], at_push[], at_variable[], at_frame[], at_call[], at_jump[];

/* ---- where the probes are ---- */

enum { RDX = 3, RSI = 4, RBP = 6, RSP = 7, RIP = 16, EFLAGS, CS, SS };

/** What the instructions there store. */
extern const struct insn_store no_store, pushed, in_frame;
struct insn_store in_variable(void);

/* ---- the tracer's side ---- */

extern struct probed {
	struct bpf_kernel kernel;
	struct programs programs;
	struct uprobe_options options;
	struct tracee tracee;
	struct program *program;
	int location;
	struct bpf_location *shared;
	int fd;			      /* the probe */
	struct bpf_hit_record record; /* the last one */
	unsigned int records;
	unsigned int text_len; /* of the instruction where a program is put; 0: it is
				* not compared */
	bool redirects;	       /* the programs stop threads before the instruction */
} fixture;

/** The child runs one of the above in rounds, with any flags and values, and stops
 * itself after each. */
void start(bool multi, bool flags);
void finish(void);
/** Does this kernel let programs set the PC? They do, from now on. */
void skip_unless_redirecting(void);

/** A program at an instruction; unreferences the condition and the command (or NULL).
 */
void put(const char *place, const struct insn_store *store,
	 struct agent_expr *condition, struct agent_expr *command);
void take_out(void);
/** $name & bits */
struct agent_expr *register_has(const char *name, uint32_t bits);

siginfo_t resume(enum __ptrace_request request);
/** To a place, by steps. */
void step_to(const char *place);
/** The child runs to its next stop by itself, without one before. */
void pass(void);
/** Is that such a stop? */
bool is_mark(const siginfo_t *info);
/** The child runs into the probe, which stops it. */
void hit(enum bpf_verdict verdict);
void expect_hits(uint64_t falses, uint64_t trues, uint64_t maybes);

/** The child's registers, of which there is one copy; those of the last record. */
struct regs *fetch(void);
uint64_t get(const struct regs *regs, unsigned int number);
uint64_t recorded(unsigned int number);
void expect_equal(const struct regs *regs, const struct regs *other);

/** Each test by multi links and by perf events. */
#define WITH(name, flags)                                                              \
	static void name(void);                                                        \
	Test(probe_multi, name)                                                        \
	{                                                                              \
		start(true, flags);                                                    \
		name();                                                                \
	}                                                                              \
	Test(probe_perf, name)                                                         \
	{                                                                              \
		start(false, flags);                                                   \
		name();                                                                \
	}                                                                              \
	static void name(void)
#define WITH_FLAGS(name)    WITH(name, true)
#define WITHOUT_FLAGS(name) WITH(name, false)

#endif
