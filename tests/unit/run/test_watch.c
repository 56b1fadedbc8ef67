/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The value filter against a model of gdb: at random stores, changes that make no hit,
 * and what a client does at stops, gdb has to see each stop that it would show.
 */
#include <criterion/criterion.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gdbstub/engines/engines.h"
#include "gdbstub/run/lifetimes.h"
#include "gdbstub/hits/memory_write.h"
#include "gdbstub/run/run.h"
#include "gdbstub/text/text.h"
#include "gdbstub/text/traps.h"
#include "gdbstub/breakpoints/watch.h"
#include "tests/unit/expr.h"
#include "tests/unit/rng.h"
#include "tests/unit/runs.h"

enum { OPS = 400, ROUNDS = 4, PAGE = 4096 };

#define ONES UINT64_C(0x0101010101010101)

/* What the child does, and the client at a stop by it. */
struct op {
	enum {
		STORE,	/* a hit */
		WIDE,	/* of 8 bytes, which may be a hit in two slots */
		HIDDEN, /* through /proc/self/mem: no hit */
		DROP,	/* the second page becomes zeros, and is not resident */
		SIGNAL, /* stops for another reason */
	} kind;
	enum {
		LOOK,
		LOOK_BY_HALVES,
		IGNORE, /* gdb ignores the hit of another thread than the variable's */
	} attention;
	enum {
		GO_ON,
		CHURN, /* takes the watchpoint out and puts it back */
		RENEW, /* the same, and it is a new one */
		WRITE,
	} action;
	unsigned int offset, client_offset; /* in the watched bytes */
	uint8_t value, client_value;
};

struct script {
	struct op op[OPS];
	int at; /* the one that is done */
	int go;
};

static struct script *script; /* shared with the child */
static uint8_t *memory;	      /* the child has its own */
static struct run run;

/* The model: what is in memory, and what gdb remembers. */
static struct model {
	uint64_t addr;
	unsigned int len;
	uint8_t now[WATCH_BYTES], remembered[WATCH_BYTES];
} model;

/* ---- the child ---- */

/* Written by one store wherever it lies. */
struct __attribute__((packed)) wide {
	uint64_t value;
};

static void do_op(const struct op *op, int mem)
{
	volatile uint8_t *watched = (volatile uint8_t *)(uintptr_t)model.addr;

	if (op->kind == STORE)
		watched[op->offset] = op->value;
	else if (op->kind == WIDE)
		((volatile struct wide *)watched)->value = op->value * ONES;
	else if (op->kind == HIDDEN)
		pwrite(mem, &op->value, 1, (off_t)(model.addr + op->offset));
	else if (op->kind == DROP)
		madvise(memory + PAGE, PAGE, MADV_DONTNEED);
	else
		raise(SIGUSR1);
}

static void child_main(void)
{
	int mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC);

	while (!__atomic_load_n(&script->go, __ATOMIC_SEQ_CST))
		usleep(1000);
	for (int i = 0; i < OPS; i++) {
		__atomic_store_n(&script->at, i, __ATOMIC_SEQ_CST);
		do_op(&script->op[i], mem);
	}
}

/* ---- the model ---- */

/* Changes memory as the operation does. */
static void model_do(const struct op *op)
{
	uint64_t second = (uint64_t)(uintptr_t)memory + PAGE;

	if (op->kind == STORE || op->kind == HIDDEN)
		model.now[op->offset] = op->value;
	if (op->kind == WIDE)
		memset(model.now, op->value, 8);
	for (unsigned int i = 0; op->kind == DROP && i < model.len; i++)
		if (model.addr + i >= second)
			model.now[i] = 0;
}

static bool model_changed(void)
{
	return memcmp(model.now, model.remembered, model.len) != 0;
}

static void model_remember(void)
{
	memcpy(model.remembered, model.now, sizeof(model.now));
}

/* ---- the client ---- */

static void insert(struct inferior *inferior, struct agent_expr *condition)
{
	struct agent_list conditions = {&condition, condition ? 1 : 0};
	_cleanup_error_ struct error *error =
		breakpoints_insert(inferior->breakpoints, WATCHPOINT_WRITE, model.addr,
				   model.len, &conditions, NULL);

	cr_assert_null(error, "%s", error ? error_text(error) : "");
}

static void act(struct inferior *inferior, const struct op *op)
{
	if (op->action == CHURN || op->action == RENEW) {
		breakpoints_remove(inferior->breakpoints, WATCHPOINT_WRITE, model.addr,
				   model.len);
		insert(inferior, NULL);
	}
	if (op->action == RENEW)
		model_remember();
	if (op->action != WRITE)
		return;
	cr_assert_eq(breakpoints_write_memory(inferior, model.addr + op->client_offset,
					      &op->client_value, 1),
		     0);
	model.now[op->client_offset] = op->client_value;
	model_remember();
}

static struct stop resume(struct inferior *inferior)
{
	_cleanup_error_ struct error *error = NULL;
	struct thread *thread = TAILQ_FIRST(&inferior->threads);

	run_set_action(&run, thread, (struct resume_action){.kind = RESUME_CONTINUE});
	error = run_resume(&run);
	cr_assert_null(error, "%s", error ? error_text(error) : "");
	return wait_stop(&run);
}

/* ---- what is put together ---- */

static void set_up(void)
{
	script = mmap(NULL, sizeof(*script), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	memory = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	cr_assert(script != MAP_FAILED && memory != MAP_FAILED);
	cr_assert_null(arch_native()->init());
	run_init(&run);
	engines_probe(&run.engines);
}

static void tear_down(void)
{
	run_deinit(&run);
}

static void need_engine(int engine)
{
	if (arch_native()->stores)
		cr_skip_test("hits come before the access: test_aarch64_stores");
	if (run.engines.engine[engine].unusable)
		cr_skip_test("%s", error_text(run.engines.engine[engine].unusable));
	use_only(&run, engine);
}

/* Values are few, so that many stores change nothing. @kinds: of other operations, from
 * HIDDEN on. */
static void write_script(struct rng *rng, unsigned int kinds)
{
	script->go = 0;
	for (int i = 0; i < OPS; i++) {
		int store = model.len >= 8 && rng_below(rng, 3) == 0 ? WIDE : STORE;

		script->op[i] = (struct op){
			.kind = rng_below(rng, 3) > 0
					? store
					: HIDDEN + (int)rng_below(rng, kinds),
			.attention = (int)rng_below(rng, 3),
			.action = (int)rng_below(rng, 4),
			.offset = rng_below(rng, model.len),
			.client_offset = rng_below(rng, model.len),
			.value = (uint8_t)rng_below(rng, 2),
			.client_value = (uint8_t)rng_below(rng, 2),
		};
	}
}

static struct inferior *start(void)
{
	struct inferior *inferior = attach_child(&run, child_start(child_main));

	__atomic_store_n(&script->go, 1, __ATOMIC_SEQ_CST);
	memset(model.now, 0, sizeof(model.now));
	model_remember();
	return inferior;
}

static bool is_store(const struct op *op)
{
	return op->kind == STORE || op->kind == WIDE;
}

/* The operations up to the one that has stopped; none of them is one to stop at. */
static void catch_up(int *done)
{
	while (*done < script->at) {
		const struct op *op = &script->op[(*done)++];

		model_do(op);
		cr_assert(op->kind != SIGNAL);
		cr_assert(!is_store(op) || !model_changed(), "stop %d is missing",
			  *done - 1);
	}
	model_do(&script->op[(*done)++]);
}

static void check_values(struct inferior *inferior, const struct stop *stop, bool sure)
{
	uint8_t bytes[WATCH_BYTES] = {0};

	cr_assert_eq(stop->addr, model.addr);
	cr_assert_eq(breakpoints_read_memory(inferior, model.addr, bytes, model.len),
		     model.len);
	cr_assert_arr_eq(bytes, model.now, WATCH_BYTES);
	cr_assert_eq(stop->values.len, model.len);
	cr_assert_arr_eq(stop->values.new, model.now, WATCH_BYTES);
	if (sure)
		cr_assert_arr_eq(stop->values.old, model.remembered, WATCH_BYTES);
}

/* How often a hit may come that is none for gdb: its memory is not known for sure. */
static unsigned int doubts(const struct stop *stop, const struct op *op)
{
	return stop->kind != STOP_WATCH || op->attention == IGNORE ||
	       op->action == WRITE;
}

/* gdb looks at what is watched. */
static void look(const struct inferior *inferior, const struct op *op)
{
	const struct thread *thread = TAILQ_FIRST(&inferior->threads);
	unsigned int half = op->attention == LOOK ? 0 : model.len / 2;

	watch_shown(thread, model.addr, model.now, half);
	watch_shown(thread, model.addr + half, &model.now[half], model.len - half);
	model_remember();
}

/* One life of a child. */
static void check_one(void)
{
	struct inferior *inferior = start();
	unsigned int doubted = 0, in_vain = 0;
	bool sure = true; /* it is known what gdb remembers */
	int done = 0;

	insert(inferior, NULL);
	for (;;) {
		struct stop stop = resume(inferior);
		const struct op *op = &script->op[script->at];

		if (stop.kind == STOP_EXITED)
			break;
		catch_up(&done);
		if (stop.kind == STOP_WATCH) {
			check_values(inferior, &stop, sure);
			in_vain += !model_changed();
			sure |= op->attention != IGNORE;
		} else {
			cr_assert_eq(stop.signal, SIGUSR1);
		}
		if (stop.kind == STOP_WATCH && op->attention != IGNORE)
			look(inferior, op);
		if (stop.kind != STOP_WATCH || op->action == RENEW)
			sure &= !model_changed();
		doubted += doubts(&stop, op);
		act(inferior, op);
	}
	while (done < OPS) {
		model_do(&script->op[done]);
		cr_assert(!is_store(&script->op[done++]) || !model_changed(),
			  "stop %d is missing", done - 1);
	}
	cr_expect_leq(in_vain, doubted, "%u stops in vain", in_vain);
}

static void check(int engine)
{
	static const struct {
		unsigned int offset, len;
	} regions[] = {{8, 1},	{11, 1}, {8, 2},   {8, 4},	   {8, 8},
		       {12, 8}, {8, 16}, {32, 32}, {PAGE - 8, 16}, {PAGE - 4, 8}};
	struct rng rng = {5};

	need_engine(engine);
	for (size_t i = 0; i < ROUNDS * sizeof(regions) / sizeof(*regions); i++) {
		size_t r = i % (sizeof(regions) / sizeof(*regions));

		model.addr = (uint64_t)(uintptr_t)memory + regions[r].offset;
		model.len = regions[r].len;
		write_script(&rng, SIGNAL - HIDDEN + 1);
		check_one();
	}
}

TestSuite(watch, .init = set_up, .fini = tear_down, .timeout = 600);

Test(watch, gdb_sees_all_in_the_kernel)
{
	check(ENGINE_PERF_EVENT);
}

Test(watch, gdb_sees_all_by_debug_registers)
{
	check(ENGINE_DEBUGREG);
}

/* The first byte by the second. Where that is 0, programs leave the hit to the stub,
 * for which it is an error, hence a hit. */
static struct agent_expr *quotient(void)
{
	return EXPR(CONST64(model.addr), AGENT_REF8, CONST64(model.addr + 1),
		    AGENT_REF8, AGENT_DIV_UNSIGNED, AGENT_END);
}

static bool is_true(void)
{
	return model.now[1] == 0 || model.now[0] / model.now[1] != 0;
}

/* Reported is what changes the value, as all hits before have seen it, and makes the
 * condition true. */
static void check_condition(int engine)
{
	struct agent_expr *condition;
	struct inferior *inferior;
	struct rng rng = {6};
	struct stop stop;

	need_engine(engine);
	model.addr = (uint64_t)(uintptr_t)memory + 8;
	model.len = 2;
	write_script(&rng, 1);
	inferior = start();
	condition = quotient();
	insert(inferior, condition);
	for (int i = 0; i < OPS; i++) {
		model_do(&script->op[i]);
		if (script->op[i].kind != STORE)
			continue;
		if (model_changed() && is_true()) {
			stop = resume(inferior);
			cr_assert_eq(stop.kind, STOP_WATCH);
			cr_assert_eq(script->at, i, "at %d, not %d", script->at, i);
			check_values(inferior, &stop, true);
			look(inferior, &script->op[i]);
		}
		model_remember();
	}
	stop = resume(inferior);
	cr_assert_eq(stop.kind, STOP_EXITED);
	agent_expr_unref(condition);
}

Test(watch, condition_after_the_filter_in_the_kernel)
{
	check_condition(ENGINE_PERF_EVENT);
}

Test(watch, condition_after_the_filter_by_debug_registers)
{
	check_condition(ENGINE_DEBUGREG);
}
