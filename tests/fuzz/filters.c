/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Differential fuzzing of filters: programs of random bytecode as native code, executed
 * in this process, and by the interpreter on the same registers and memory. What the
 * filter calls false must be the interpreter's false; all else may be for the trap.
 * When the server has ended, nothing is.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "arch/register_table.h"
#include "bpf/shared/shadow.h"
#include "gdbstub/agent/interp.h"
#include "gdbstub/agent/print.h"
#include "gdbstub/base/cleanup.h"
#include "gdbstub/pads/filter.h"
#include "tests/fuzz/arena.h"
#include "tests/fuzz/generate.h"
#include "tests/fuzz/maybes.h"
#include "tests/fuzz/run_filter.h"

enum {
	SKIPPED = 77, /* automake's status for a test that cannot run here */
	STATES = 4,
	STREAM_STATE = 77,
	TAP_COUNT = 20000,
	STEPPED_PERCENT = 5,
	LITTLE_STACK_PERCENT = 2,
	SEQUENCE_PERCENT = 2,
	ENDED_PERCENT = 10, /* the server has */
};

static const uint64_t place_pc = 0x555555555164;

struct sums {
	struct run_sums run;
	uint64_t programs, invalid, filters, states, stepped, wrong, miscounted;
	uint64_t ends[RUN_ENDS];
	uint64_t undecided; /* what is false, and was left to the trap */
	struct maybes maybes, false_maybes, unmade;
};

struct fuzzing {
	struct roles roles;
	uint64_t seed;
	struct native_shared shared;
	uint64_t counter;
	struct run_registers registers;
	struct met met;
	struct sums sums;
	const struct arch_ops *arch;
};

/* Not zero: the thread is in a restartable sequence. */
static __thread uint64_t sequence;

/* ---- the interpreter ---- */

static bool is_planted(const struct native_shared *shared, uint64_t addr, size_t len)
{
	if (addr >= shared->end || addr + len <= shared->start)
		return false;
	for (int i = 0; i < SHADOW_GAPS; i++)
		if (addr >= shared->gaps[i].start && addr + len <= shared->gaps[i].end)
			return false;
	return true;
}

static int read_memory(void *data, uint64_t addr, void *value, size_t len)
{
	const struct iovec to = {value, len};
	const struct iovec from = {(void *)(uintptr_t)addr, len};
	struct fuzzing *f = data;

	f->met.planted |= is_planted(&f->shared, addr, len);
	if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)len)
		return 0;
	f->met.unreadable = true;
	return -EFAULT;
}

static int read_register(void *data, unsigned int number, uint64_t *value)
{
	struct fuzzing *f = data;

	if (number == AGENT_REG_THREAD) {
		*value = (uint64_t)gettid();
		return 0;
	}
	if (number != run_machine.pc && number != run_machine.sp &&
	    number >= run_machine.registers) {
		int err = run_machine.read_other(number, value);

		f->met.unreadable |= err < 0;
		return err;
	}
	*value = number == run_machine.pc ? place_pc : f->registers.general[number];
	return 0;
}

/* What cannot be evaluated is a hit, as is what memory does not show. */
static bool is_false(struct fuzzing *f, const struct agent_expr *expr)
{
	const struct agent_context context = {
		.read_memory = read_memory, .read_register = read_register, .data = f};
	_cleanup_error_ struct error *error = NULL;
	uint64_t value = 0;

	f->met = (struct met){.in_sequence = sequence != 0};
	error = agent_expr_evaluate(expr, &context, &value);
	f->met.failed = error;
	f->met.is_false = !error && value == 0;
	return f->met.is_false;
}

/* ---- one state ---- */

static void set_registers(struct fuzzing *f, const struct fuzz_state *state,
			  unsigned int position, struct rng *rng)
{
	for (unsigned int i = 0; i < f->roles.ngeneral; i++)
		if (f->roles.general[i] < run_machine.registers)
			f->registers.general[f->roles.general[i]] = state->registers[i];
	f->registers.general[f->roles.selector] = position;
	f->registers.general[run_machine.sp] =
		run_stack(rng_below(rng, 100), !rng_chance(rng, LITTLE_STACK_PERCENT));
	f->registers.flags = (rng_next(rng) & run_machine.status) | run_machine.others;
	sequence = rng_chance(rng, SEQUENCE_PERCENT);
	f->shared.server = rng_chance(rng, ENDED_PERCENT) ? FUTEX_OWNER_DIED : 1;
}

static void tell(const struct fuzzing *f, const struct agent_expr *expr,
		 const char *what, uint64_t index)
{
	_cleanup_buffer_ struct buffer text = {0};

	agent_expr_disassemble(expr, f->arch, &text);
	for (unsigned int i = 0; i < run_machine.registers; i++)
		buffer_printf(&text, "  %s 0x%" PRIx64 "\n",
			      reg_by_number(f->arch, i)->name, f->registers.general[i]);
	printf("# seed %" PRIu64 ", program %" PRIu64 ": %s\n%s", f->seed, index, what,
	       buffer_string(&text));
}

/* With nobody to handle the trap, none is met, and only what is false is counted. */
static bool is_counted_right(const struct fuzzing *f, uint64_t before, enum run_end end,
			     bool expected)
{
	const uint64_t count = f->counter - before;

	if (f->shared.server == FUTEX_OWNER_DIED)
		return end != RUN_NOT_FALSE && count <= expected;
	return count == (end == RUN_FALSE);
}

/* Only of what was left to the trap: when the server has ended, nothing is. */
static void count_maybe(struct fuzzing *f, const struct agent_expr *expr,
			enum run_end end)
{
	const char *reason = end == RUN_FALSE ? NULL : maybe_reason(expr, &f->met, end);

	if (!reason)
		return;
	maybes_count(&f->sums.maybes, reason);
	if (f->met.is_false)
		maybes_count(&f->sums.false_maybes, reason);
}

static void run_state(struct fuzzing *f, const struct agent_expr *expr, bool steps,
		      uint64_t index)
{
	const uint64_t before = f->counter, changed = f->sums.run.changed;
	bool expected = is_false(f, expr) && sequence == 0;
	enum run_end end = run_filter(&f->registers, steps, &f->sums.run);

	f->sums.states++;
	f->sums.stepped += steps;
	f->sums.ends[end]++;
	f->sums.undecided += expected && end != RUN_FALSE;
	count_maybe(f, expr, end);
	if (!is_counted_right(f, before, end, expected)) {
		f->sums.miscounted++;
		tell(f, expr, "is counted wrongly", index);
	}
	if (end == RUN_FALSE && !expected && f->shared.server != FUTEX_OWNER_DIED) {
		f->sums.wrong++;
		tell(f, expr, "the filter says false", index);
	}
	if (f->sums.run.changed != changed)
		tell(f, expr, "it changes the program", index);
}

/* ---- one program ---- */

static void plant(struct fuzzing *f, const struct fuzz_program *program)
{
	struct shadow_range traps[FUZZ_TRAPS];
	struct shadow shadow;

	memcpy(traps, program->traps, sizeof(traps));
	shadow = shadow_around(traps, program->ntraps);
	f->shared.start = shadow.all.start;
	f->shared.end = shadow.all.end;
	for (int i = 0; i < SHADOW_GAPS; i++) {
		f->shared.gaps[i].start = shadow.gaps[i].start;
		f->shared.gaps[i].end = shadow.gaps[i].end;
	}
}

static struct native_code *make(struct fuzzing *f, struct agent_expr *expr)
{
	struct agent_list list = {&expr, 1};
	const struct filter_place place = {
		.pc = place_pc,
		.shared = (uint64_t)(uintptr_t)&f->shared,
		.counter = (uint64_t)(uintptr_t)&f->counter,
		.has_sequence = true,
		.sequence = (int32_t)((intptr_t)&sequence -
				      (intptr_t)__builtin_thread_pointer()),
		.needs_server = true,
	};
	_cleanup_error_ struct error *error = NULL;
	struct native_code *code = NULL;

	error = filter_create(f->arch, &list, &place, RUN_TRAP_LEN, &code);
	if (error)
		maybes_count(&f->sums.unmade, error_text(error));
	return code;
}

static void run_states(struct fuzzing *f, const struct fuzz_program *program,
		       const struct agent_expr *expr, uint64_t index)
{
	for (unsigned int i = 0; i < STATES; i++) {
		struct rng rng = rng_make(f->seed, index, STREAM_STATE + i);
		struct fuzz_state state;

		generate_state(&state, program, &f->roles, f->seed, index, i);
		set_registers(f, &state, index % BATCH, &rng);
		run_state(f, expr, rng_chance(&rng, STEPPED_PERCENT), index);
	}
}

static void run_program(struct fuzzing *f, uint64_t index)
{
	static struct fuzz_program program;
	_cleanup_free_ struct native_code *code = NULL;
	struct agent_expr *expr = NULL;

	generate_program(&program, &f->roles, f->seed, index);
	f->sums.programs++;
	if (!program.text.full)
		error_destroy(
			agent_expr_create(program.text.bytes, program.text.len, &expr));
	if (!expr) {
		f->sums.invalid++;
		return;
	}
	plant(f, &program);
	code = make(f, expr);
	if (code) {
		f->sums.filters++;
		run_load(code);
		run_states(f, &program, expr, index);
	}
	agent_expr_unref(expr);
}

/* ---- the command line ---- */

static bool report(const struct sums *s)
{
	printf("# %" PRIu64 " programs, %" PRIu64 " not valid, %" PRIu64 " filters\n",
	       s->programs, s->invalid, s->filters);
	printf("# %" PRIu64 " states: %" PRIu64 " false, %" PRIu64
	       " not false, %" PRIu64 " faults; %" PRIu64
	       " false ones left to the trap, %" PRIu64 " wrong, %" PRIu64
	       " miscounted\n",
	       s->states, s->ends[RUN_FALSE], s->ends[RUN_NOT_FALSE],
	       s->ends[RUN_FAULT], s->undecided, s->wrong, s->miscounted);
	printf("# %" PRIu64 " stepped: %" PRIu64 " stops, %" PRIu64
	       " restored wrongly; %" PRIu64 " runs that changed the program\n",
	       s->stepped, s->run.stops, s->run.wrong, s->run.changed);
	maybes_print(&s->unmade, "no filter");
	maybes_print(&s->maybes, "states left to the trap, but for true ones");
	maybes_print(&s->false_maybes, "... of them, false ones");
	return s->wrong + s->miscounted + s->run.wrong + s->run.changed == 0 &&
	       s->ends[RUN_FALSE] > 0 && s->run.stops > 0;
}

static bool run(uint64_t seed, uint64_t count)
{
	static struct fuzzing f;

	f = (struct fuzzing){.seed = seed, .arch = arch_native()};
	roles_init(&f.roles);
	/* The stack pointer has to be one. */
	while (f.roles.selector >= run_machine.registers ||
	       f.roles.selector == run_machine.sp)
		f.roles.selector = f.roles.general[--f.roles.ngeneral];
	for (uint64_t index = 0; index < count; index++)
		run_program(&f, index);
	return report(&f.sums);
}

/* filters [--tap=-] [--seed N] [--count N] */
static bool parse(int argc, char **argv, uint64_t *seed, uint64_t *count, bool *tap)
{
	static const struct option options[] = {
		{"seed", required_argument, NULL, 's'},
		{"count", required_argument, NULL, 'c'},
		{"tap", required_argument, NULL, 't'},
		{0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 's')
			*seed = strtoull(optarg, NULL, 0);
		else if (option == 'c')
			*count = strtoull(optarg, NULL, 0);
		else if (option == 't')
			*tap = true;
		else
			return false;
	}
	return optind == argc && *count > 0;
}

static const char *why_not(void)
{
	_cleanup_error_ struct error *error = arch_native()->init();
	const int file = arena_file();

	if (error || file < 0 || arena_map(arch_native(), file) < 0)
		return "memory at fixed addresses cannot be mapped";
	return arch_native()->native->usable() ? NULL : "this processor has no filters";
}

int main(int argc, char **argv)
{
	uint64_t seed = 1, count = TAP_COUNT;
	const char *reason;
	bool tap = false, good;

	if (!parse(argc, argv, &seed, &count, &tap)) {
		fprintf(stderr, "usage: filters [--seed N] [--count N] [--tap=-]\n");
		return 2;
	}
	reason = why_not();
	if (reason) {
		printf("1..0 # SKIP %s\n", reason);
		return tap ? 0 : SKIPPED;
	}
	run_init(arch_native());
	good = run(seed, count);
	if (tap)
		printf("1..1\n%sok 1 - random programs as filters\n",
		       good ? "" : "not ");
	return good ? 0 : 1;
}
