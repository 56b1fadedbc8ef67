/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The value filter where hits come before the access: stores of all forms, by a process
 * that is debugged as gdb does it. Told of a hit, it takes the watchpoint out, steps
 * the thread, puts it back, looks, and goes on if it finds what it remembers.
 */
#include <criterion/criterion.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gdbstub/hits/look_after.h"
#include "gdbstub/inferior/registers.h"
#include "gdbstub/inferior/thread.h"
#include "gdbstub/breakpoints/commit.h"
#include "gdbstub/engines/engines.h"
#include "gdbstub/locations/ignore.h"
#include "gdbstub/run/lifetimes.h"
#include "gdbstub/run/nonstop.h"
#include "gdbstub/run/run.h"
#include "gdbstub/text/text.h"
#include "gdbstub/text/traps.h"
#include "gdbstub/breakpoints/watch.h"
#include "tests/unit/rng.h"
#include "tests/unit/runs.h"

enum { OPS = 200, PAGE = 4096, TURNS = 40 };

enum form {
	STRB,
	STRH,
	STR_W,
	STR_X,
	STUR,
	PRE,
	POST,
	INDEX_LSL,
	INDEX_UXTW,
	INDEX_SXTW,
	STP_W,
	STP_X,
	STP_PRE,
	STLR,
	CHANGING, /* code that is written anew each time */
	FILTERED, /* the above */
	VECTOR = FILTERED,
	HIDDEN, /* through /proc/self/mem: no hit */
	SIGNAL, /* stops for another reason */
	FORMS
};

struct op {
	enum form form;
	int offset; /* from the first watched byte */
	uint64_t first, second;
	bool renew; /* at a stop by it, the watchpoint is taken out and put back */
};

struct script {
	struct op op[OPS];
	unsigned int at; /* the one that is done */
	int go;
};

static struct script *script; /* shared with the child */
static uint8_t *memory;	      /* the child has its own */
static uint32_t *code;	      /* what it can write and execute */
static struct run run;

/* What is in memory, and what the client remembers. */
static struct model {
	uint64_t addr;
	unsigned int len;
	uint8_t now[WATCH_BYTES], remembered[WATCH_BYTES];
	unsigned int shown, in_vain, needless;
} model;

/* ---- the child ---- */

/* str x1, [x0] or str x2, [x0]; ret */
static void write_code(bool first)
{
	code[0] = first ? 0xf9000001 : 0xf9000002;
	code[1] = 0xd65f03c0;
	__builtin___clear_cache((char *)code, (char *)(code + 2));
}

static void call_code(uint64_t at, uint64_t first, uint64_t second)
{
	register uint64_t x0 __asm__("x0") = at;
	register uint64_t x1 __asm__("x1") = first;
	register uint64_t x2 __asm__("x2") = second;

	__asm__ volatile("blr %3" ::"r"(x0), "r"(x1), "r"(x2), "r"(code)
			 : "x30", "memory");
}

#define STORE(text, ...)                                                               \
	do {                                                                           \
		uint64_t base = at;                                                    \
		__asm__ volatile(text                                                  \
				 : "+r"(base)                                          \
				 : "r"(op->first), "r"(op->second), ##__VA_ARGS__      \
				 : "memory", "v0");                                    \
	} while (0)

static void do_store(const struct op *op)
{
	uint64_t at = model.addr + (uint64_t)op->offset;
	uint64_t three = 3, minus = (uint32_t)-8;

	switch (op->form) {
	case STRB:
		STORE("strb %w1, [%0]");
		break;
	case STRH:
		STORE("strh %w1, [%0]");
		break;
	case STR_W:
		STORE("str %w1, [%0]");
		break;
	case STR_X:
		at -= 16;
		STORE("str %1, [%0, #16]");
		break;
	case STUR:
		at += 7;
		STORE("stur %1, [%0, #-7]");
		break;
	case PRE:
		at += 24;
		STORE("str %1, [%0, #-24]!");
		break;
	case POST:
		STORE("str %w1, [%0], #8");
		break;
	case INDEX_LSL:
		at -= 24;
		STORE("str %1, [%0, %3, lsl #3]", "r"(three));
		break;
	case INDEX_UXTW:
		at -= 12;
		STORE("str %w1, [%0, %w3, uxtw #2]", "r"(three));
		break;
	case INDEX_SXTW:
		at += 16;
		STORE("strh %w1, [%0, %w3, sxtw #1]", "r"(minus));
		break;
	case STP_W:
		STORE("stp %w1, %w2, [%0]");
		break;
	case STP_X:
		STORE("stp %1, %2, [%0]");
		break;
	case STP_PRE:
		at += 16;
		STORE("stp %1, %2, [%0, #-16]!");
		break;
	case STLR:
		STORE("stlrb %w1, [%0]"); /* wider, it had to be aligned */
		break;
	case CHANGING:
		write_code(op->second & 1);
		call_code(at, op->first, op->second);
		break;
	default:
		STORE("fmov d0, %1\n str d0, [%0]");
	}
}

static unsigned int size_of(enum form form)
{
	static const uint8_t sizes[FORMS] = {
		[STRB] = 1,	  [STRH] = 2,	    [STR_W] = 4,    [STR_X] = 8,
		[STUR] = 8,	  [PRE] = 8,	    [POST] = 4,	    [INDEX_LSL] = 8,
		[INDEX_UXTW] = 4, [INDEX_SXTW] = 2, [STP_W] = 8,    [STP_X] = 16,
		[STP_PRE] = 16,	  [STLR] = 1,	    [CHANGING] = 8, [VECTOR] = 8,
		[HIDDEN] = 1,
	};

	return sizes[form];
}

static void child_main(void)
{
	int mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC);

	while (!__atomic_load_n(&script->go, __ATOMIC_SEQ_CST))
		usleep(1000);
	for (unsigned int i = 0; i < OPS; i++) {
		const struct op *op = &script->op[i];

		__atomic_store_n(&script->at, i, __ATOMIC_SEQ_CST);
		if (op->form == SIGNAL)
			raise(SIGUSR1);
		else if (op->form == HIDDEN)
			pwrite(mem, &op->first, 1, (off_t)model.addr + op->offset);
		else
			do_store(op);
	}
}

/* ---- the model ---- */

static void model_do(const struct op *op)
{
	uint64_t values[2] = {op->first, op->second};
	int size = (int)size_of(op->form);

	if (op->form == STP_W)
		values[0] = (uint32_t)op->first | op->second << 32;
	if (op->form == CHANGING && !(op->second & 1))
		values[0] = op->second;
	for (int i = 0; i < size; i++)
		if (op->offset + i >= 0 && op->offset + i < (int)model.len)
			model.now[op->offset + i] = ((uint8_t *)values)[i];
}

/* Is it a hit for certain? */
static bool model_hits(const struct op *op)
{
	return op->form < HIDDEN && op->offset < (int)model.len &&
	       op->offset + (int)size_of(op->form) > 0;
}

static bool model_changed(void)
{
	return memcmp(model.now, model.remembered, model.len) != 0;
}

/* ---- the client ---- */

static void insert(struct inferior *inferior)
{
	static const struct agent_list none;
	_cleanup_error_ struct error *error =
		breakpoints_insert(inferior->breakpoints, WATCHPOINT_WRITE, model.addr,
				   model.len, &none, NULL);

	cr_assert_null(error, "%s", error ? error_text(error) : "");
}

static void withdraw(struct inferior *inferior)
{
	breakpoints_remove(inferior->breakpoints, WATCHPOINT_WRITE, model.addr,
			   model.len);
}

static void commit(struct inferior *inferior)
{
	_cleanup_error_ struct error *error =
		breakpoints_commit(inferior->breakpoints, false);

	cr_assert_null(error, "%s", error ? error_text(error) : "");
}

static struct stop go(void)
{
	_cleanup_error_ struct error *error = run_resume(&run);

	cr_assert_null(error, "%s", error ? error_text(error) : "");
	return wait_stop(&run);
}

static struct stop resume(const struct inferior *inferior)
{
	struct thread *thread;

	FOREACH_THREAD (thread, inferior)
		run_set_action(&run, thread,
			       (struct resume_action){.kind = RESUME_CONTINUE});
	return go();
}

static void read_watched(struct inferior *inferior, uint8_t *bytes)
{
	memset(bytes, 0, WATCH_BYTES);
	cr_assert_eq(breakpoints_read_memory(inferior, model.addr, bytes, model.len),
		     model.len);
}

/* As the client is shown it: before the access, which may be over (look_after.h). */
static uint64_t shown_pc(const struct thread *thread)
{
	struct regs regs;
	uint64_t pc;

	regs_init(&regs, arch_native());
	cr_assert_eq(look_fetch_all(thread, &regs), 0);
	cr_assert_eq(reg_read_u64(&regs, regs.arch->pc_reg, &pc), 0);
	return pc;
}

/* At a hit: memory is as it was; then as the store has made it. True: it is another
 * than the client remembers. */
static bool step_and_look(struct inferior *inferior, const struct stop *hit)
{
	struct thread *thread = thread_find(&run.inferiors, hit->tid);
	uint8_t bytes[WATCH_BYTES];
	const uint64_t pc = shown_pc(thread);
	struct stop stop;
	bool changed;

	cr_assert_eq(hit->kind, STOP_WATCH);
	cr_assert_eq(hit->addr, model.addr);
	withdraw(inferior);
	run_set_action(&run, thread, (struct resume_action){.kind = RESUME_STEP});
	stop = go();
	cr_assert_eq(stop.tid, hit->tid);
	cr_assert_eq(stop.signal, SIGTRAP);
	cr_assert_eq(shown_pc(thread), pc + 4, "a step from %#lx", pc);
	insert(inferior);
	read_watched(inferior, bytes);
	watch_shown(thread, model.addr, bytes, model.len);
	changed = memcmp(bytes, model.remembered, model.len) != 0;
	memcpy(model.remembered, bytes, sizeof(bytes));
	model.shown += changed;
	model.in_vain += !changed;
	return changed;
}

/* ---- what is put together ---- */

static void *map(int protection, int flags)
{
	void *mapped = mmap(NULL, 2 * PAGE, protection, flags | MAP_ANONYMOUS, -1, 0);

	cr_assert(mapped != MAP_FAILED);
	return mapped;
}

static void set_up(void)
{
	script = map(PROT_READ | PROT_WRITE, MAP_SHARED);
	memory = map(PROT_READ | PROT_WRITE, MAP_PRIVATE);
	code = map(PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE);
	memset(memory, 0, 2 * PAGE);
	cr_assert_null(arch_native()->init());
	run_init(&run);
	engines_probe(&run.engines);
	if (run.engines.engine[ENGINE_PERF_EVENT].unusable)
		cr_skip_test(
			"%s",
			error_text(run.engines.engine[ENGINE_PERF_EVENT].unusable));
}

static void tear_down(void)
{
	run_deinit(&run);
}

static struct inferior *start(void (*body)(void))
{
	struct inferior *inferior = attach_child(&run, child_start(body));

	__atomic_store_n(&script->go, 1, __ATOMIC_SEQ_CST);
	memset(model.now, 0, sizeof(model.now));
	memset(model.remembered, 0, sizeof(model.remembered));
	model.shown = model.in_vain = model.needless = 0;
	insert(inferior);
	return inferior;
}

static struct hit_counts counts(const struct inferior *inferior)
{
	const struct location *location =
		TAILQ_FIRST(&inferior->breakpoints->locations);
	struct counts counts = {0};
	struct hit_counts sum;

	location->engine->ops->counts(location->engine, location, &counts);
	sum = counts_total(&counts);
	counts_clear(&counts);
	return sum;
}

TestSuite(watch_stores, .init = set_up, .fini = tear_down, .timeout = 600);

/* ---- one thread ---- */

static uint64_t few_values(struct rng *rng)
{
	return rng_below(rng, 3) == 0 ? 0x0101010101010101 : rng_below(rng, 2);
}

/* @kinds: the first so many forms. */
static void write_script(struct rng *rng, unsigned int kinds)
{
	script->go = 0;
	for (int i = 0; i < OPS; i++) {
		struct op op = {
			.form = (enum form)(rng_below(rng, kinds)),
			.first = few_values(rng),
			.second = few_values(rng),
			.renew = rng_below(rng, 4) == 0,
		};

		op.offset = (int)rng_below(rng, model.len + 8) - 8;
		script->op[i] = op;
	}
}

/* The operations before that one; none of them is one to show. */
static void catch_up(unsigned int *done, unsigned int end)
{
	for (; *done < end; ++*done) {
		const struct op *op = &script->op[*done];

		model_do(op);
		cr_assert(!model_hits(op) || !model_changed(),
			  "the change by operation %u, form %d, is missing", *done,
			  op->form);
	}
}

static void look_at_hit(struct inferior *inferior, const struct stop *stop)
{
	const struct op *op = &script->op[script->at];
	uint8_t bytes[WATCH_BYTES];
	bool changed;

	read_watched(inferior, bytes);
	cr_assert_arr_eq(bytes, model.now, WATCH_BYTES);
	model_do(op);
	changed = model_changed();
	cr_assert_eq(step_and_look(inferior, stop), changed);
	cr_assert_arr_eq(model.remembered, model.now, WATCH_BYTES);
	model.needless += !changed && model_hits(op) && op->form < FILTERED;
	if (!op->renew)
		return;
	withdraw(inferior);
	insert(inferior);
}

/* One life of a child. */
static void check_script(void)
{
	struct inferior *inferior = start(child_main);
	unsigned int done = 0;

	for (;;) {
		struct stop stop = resume(inferior);

		if (stop.kind == STOP_EXITED)
			break;
		catch_up(&done, script->at);
		done++;
		if (stop.kind == STOP_WATCH)
			look_at_hit(inferior, &stop);
		else
			cr_assert_eq(stop.signal, SIGUSR1);
	}
	catch_up(&done, OPS);
}

static void watch_region(unsigned int offset, unsigned int len)
{
	model.addr = (uint64_t)(uintptr_t)memory + 64 + offset;
	model.len = len;
}

/* All that changes something is shown, and nothing else is told. */
Test(watch_stores, all_forms)
{
	static const struct {
		unsigned int offset, len;
	} regions[] = {{0, 8}, {0, 4}, {4, 4}, {6, 1}, {0, 16}, {4, 8}};
	struct rng rng = {3};

	for (size_t i = 0; i < sizeof(regions) / sizeof(*regions); i++) {
		watch_region(regions[i].offset, regions[i].len);
		write_script(&rng, FILTERED);
		check_script();
		cr_expect_gt(model.shown, 5);
		cr_expect_eq(model.needless, 0, "%u bytes at %u: %u in vain", model.len,
			     regions[i].offset, model.needless);
	}
}

/* Nor is one forgotten among others, which are told. */
Test(watch_stores, among_other_changes)
{
	struct rng rng = {4};

	for (int round = 0; round < 3; round++) {
		watch_region(round * 4, 8);
		write_script(&rng, FORMS);
		check_script();
		cr_expect_gt(model.shown, 5);
	}
}

/* While hits are ignored, each is one; the next change is told. */
Test(watch_stores, ignored)
{
	struct rng rng = {1};
	struct inferior *inferior;
	struct location *location;
	struct stop stop;

	watch_region(0, 8);
	write_script(&rng, 1);
	for (int i = 0; i < OPS; i++)
		script->op[i] = (struct op){.form = STR_X, .first = i < 20 ? 5 : 6};
	inferior = start(child_main);
	location = TAILQ_FIRST(&inferior->breakpoints->locations);
	gate_set(ignore_gate(location), 10);
	stop = resume(inferior);
	cr_assert_eq(script->at, 10, "at %u", script->at);
	cr_assert(step_and_look(inferior, &stop));
	stop = resume(inferior);
	cr_assert_eq(script->at, 20, "at %u", script->at);
	cr_assert(step_and_look(inferior, &stop));
	cr_assert_eq(resume(inferior).kind, STOP_EXITED);
}

/* Others run on past a change then: what a program sees ahead of an access may be over
 * before that is done. */
Test(watch_stores, non_stop)
{
	struct rng rng = {1};
	const struct location *location;
	struct inferior *inferior;

	watch_region(0, 8);
	write_script(&rng, 1);
	inferior = start(child_main);
	location = TAILQ_FIRST(&inferior->breakpoints->locations);
	commit(inferior);
	cr_assert(watch_compares(location));
	run_set_non_stop(&run, true);
	commit(inferior);
	cr_assert_not(watch_compares(location));
	run_set_non_stop(&run, false);
}

/* ---- threads ---- */

static void store_word(uint64_t value)
{
	__asm__ volatile("str %0, [%1]" ::"r"(value), "r"(model.addr) : "memory");
}

static void *keep_zero(void *data)
{
	while (!__atomic_load_n((int *)data, __ATOMIC_SEQ_CST))
		store_word(0);
	return NULL;
}

/* One thread stores the same all the time, another one something else. */
static void two_main(void)
{
	pthread_t thread;
	int end = 0;

	while (!__atomic_load_n(&script->go, __ATOMIC_SEQ_CST))
		usleep(1000);
	pthread_create(&thread, NULL, keep_zero, &end);
	for (uint64_t i = 1; i <= TURNS; i++) {
		store_word(i);
		while (*(volatile uint64_t *)(uintptr_t)model.addr == i)
			;
	}
	__atomic_store_n(&end, 1, __ATOMIC_SEQ_CST);
	pthread_join(thread, NULL);
}

/* Whatever changes memory is told before it does: so at each hit, memory is what the
 * client remembers. */
Test(watch_stores, two_threads)
{
	struct inferior *inferior;
	struct hit_counts all = {0};

	watch_region(0, 8);
	script->go = 0;
	inferior = start(two_main);
	for (;;) {
		struct stop stop = resume(inferior);
		uint8_t bytes[WATCH_BYTES];

		if (stop.kind == STOP_EXITED)
			break;
		read_watched(inferior, bytes);
		cr_assert_arr_eq(bytes, model.remembered, WATCH_BYTES,
				 "change %u was not told", model.shown);
		step_and_look(inferior, &stop);
		all = counts(inferior);
	}
	cr_expect_eq(model.shown, 2 * TURNS, "%u changes", model.shown);
	cr_expect_gt(all.hits - all.trues, 0);
	cr_log_info("%u changes, %u in vain, %lu hits", model.shown, model.in_vain,
		    (unsigned long)all.hits);
}
