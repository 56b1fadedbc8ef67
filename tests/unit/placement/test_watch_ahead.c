/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The value filter of hits before the access, with aarch64's instructions, on whatever
 * processor: its part of a program runs by BPF_PROG_RUN, with registers that the test
 * makes up, over the test's own memory.
 */
#include <criterion/criterion.h>

#include <bpf/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/compiler/compile.h"
#include "gdbstub/agent/insn.h"
#include "gdbstub/ir/lower.h"
#include "arch/aarch64/aarch64.h"
#include "bpf/emit/compiler.h"
#include "bpf/emit/emit_exits.h"
#include "bpf/compiler/emit_operations.h"
#include "bpf/compiler/emit_watch.h"
#include "bpf/compiler/emit_watch_ahead.h"
#include "tests/unit/aarch64_insns.h"
#include "tests/unit/expr.h"
#include "tests/unit/rng.h"
#include "tests/unit/support.h"

enum { ROUNDS = 20, MEMORY = 128, WATCHED_AT = 48, REGISTERS = AARCH64_PC + 1 };

/* What a program of the test returns. */
enum { UNCHANGED, CHANGED, DOUBT };
/* ... and of one with a condition. */
enum { FALSE = UNCHANGED, LEFT_TO_STUB = DOUBT };

/* ---- aarch64, as the compiler sees it ---- */

static struct reg_def table[REGISTERS];

static const struct reg_def *registers(unsigned int *count)
{
	for (unsigned int i = 0; i < REGISTERS; i++)
		table[i] = (struct reg_def){.bits = 64, .bpf_offset = (int16_t)(8 * i)};
	*count = REGISTERS;
	return table;
}

static const struct arch_ops arch = {
	.name = "aarch64",
	.pc_reg = AARCH64_PC,
	.registers = registers,
	.stores = &aarch64_stores,
};

/* ---- the program ---- */

static struct bpf_kernel kernel;
static struct programs programs;
static uint8_t memory[MEMORY] __attribute__((aligned(16)));
static uint32_t insn;

static struct watch_last *last(void)
{
	return &kernel.shared->locations[0].last;
}

static uint64_t watched(void)
{
	return (uintptr_t)memory + WATCHED_AT;
}

static void set_up(void)
{
	start_programs(&kernel, &programs, no_record, NULL);
}

static void tear_down(void)
{
	programs_deinit(&programs);
	bpf_kernel_deinit(&kernel);
}

static int load(const struct bpf_insn *insns, size_t count)
{
	static char log[65536];
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .prog_flags = BPF_F_SLEEPABLE,
		    .log_buf = log, .log_size = sizeof(log), .log_level = 0);
	int fd = bpf_prog_load(BPF_PROG_TYPE_SYSCALL, NULL, "GPL", insns, count, &opts);

	cr_assert_geq(fd, 0, "%s: %s", strerror(-fd), log);
	return fd;
}

/* The filter of @len bytes. */
static int make_filter(unsigned int len)
{
	const struct bpf_compile_options options = {
		.arch = &arch,
		.site.watch = {.access = true, .addr = watched(), .len = len},
		.shared_fd = kernel.shared_fd,
	};
	struct compiler c = {.options = &options};
	struct bpf_emitter *e = &c.emitter;
	struct bpf_insn *insns;
	size_t count;
	uint32_t unchanged;
	int fd;

	c.registers = registers(&c.nregisters);
	c.label_maybe = bpf_emit_new_labels(e, 2);
	unchanged = c.label_maybe + 1;
	bpf_emit(e, bpf_alu(BPF_MOV, REG_CONTEXT, BPF_REG_1));
	watch_emit(&c, unchanged);
	exits_return(&c, CHANGED);
	bpf_emit_bind(e, unchanged);
	exits_return(&c, UNCHANGED);
	bpf_emit_bind(e, c.label_maybe);
	exits_return(&c, DOUBT);
	cr_assert_null(bpf_emit_finish(e, &insns, &count));
	fd = load(insns, count);
	free(insns);
	bpf_emitter_deinit(e);
	return fd;
}

static unsigned int run(int fd, uint64_t *regs, uint32_t word)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = regs,
		    .ctx_size_in = REGISTERS * sizeof(*regs));

	insn = word;
	regs[AARCH64_PC] = (uintptr_t)&insn;
	cr_assert_eq(bpf_prog_test_run_opts(fd, &opts), 0);
	return opts.retval;
}

/* ---- random states ---- */

static struct rng rng = {1};

static unsigned int random_below(unsigned int limit)
{
	return rng_below(&rng, limit);
}

/* Few values, so that many stores change nothing. */
static uint64_t random_value(void)
{
	uint64_t value = 0;

	for (int i = 0; i < 8; i++)
		value = value << 8 | (random_below(8) == 0);
	return value;
}

static uint64_t index_of(const struct store *store, const uint64_t *regs)
{
	uint64_t index = store->index == 31 ? 0 : regs[store->index];

	if (store->extend == NO_INDEX)
		return 0;
	if (store->extend == UXTW)
		index = (uint32_t)index;
	if (store->extend == SXTW)
		index = (uint64_t)(int64_t)(int32_t)index;
	return index << store->shift;
}

/* Registers by which the store begins @at. */
static void make_registers(const struct store *store, uint64_t at, uint64_t *regs)
{
	for (int i = 0; i < REGISTERS; i++)
		regs[i] = random_value();
	if (store->extend != NO_INDEX && store->index != 31)
		regs[store->index] = rng_next(&rng);
	regs[store->base] = at - (uint64_t)store->offset - index_of(store, regs);
	if (random_below(4) == 0) /* a tag, which is no part of the address */
		regs[store->base] ^= (uint64_t)random_below(256) << 56;
}

static uint64_t data_of(const uint64_t *regs, unsigned int number)
{
	return number == 31 ? 0 : regs[number];
}

/* Does it as the processor would; false: it does not touch the @len bytes. */
static bool do_store(const struct store *store, const uint64_t *regs, uint64_t at,
		     uint8_t *copy, unsigned int len)
{
	uint64_t first = data_of(regs, store->data);
	uint64_t second = data_of(regs, store->second);
	unsigned int size = store->size * (1 + store->seconds);

	memcpy(copy + (at - (uintptr_t)memory), &first, store->size);
	if (store->seconds > 0)
		memcpy(copy + (at - (uintptr_t)memory) + store->size, &second,
		       store->size);
	return at < watched() + len && watched() < at + size;
}

static void make_memory(unsigned int len)
{
	uint8_t bytes[WATCH_BYTES] = {0};

	for (int i = 0; i < MEMORY; i++)
		memory[i] = (uint8_t)(random_below(8) == 0);
	memcpy(bytes, memory + WATCHED_AT, len);
	if (random_below(4) == 0) /* changed by nobody's hit */
		bytes[random_below(len)] ^= 1;
	watch_last_set(last(), bytes, random_below(8) != 0);
}

static void check_once(int fd, const struct store *store, unsigned int len)
{
	uint8_t copy[MEMORY];
	uint64_t regs[REGISTERS];
	uint64_t at = watched() - 20 + random_below(len + 24);
	unsigned int want = DOUBT, got;

	make_memory(len);
	make_registers(store, at, regs);
	memcpy(copy, memory, MEMORY);
	if (do_store(store, regs, at, copy, len))
		want = last()->unsure || memcmp(copy + WATCHED_AT, last()->bytes,
						len) != 0
			       ? CHANGED
			       : UNCHANGED;
	got = run(fd, regs, store->word);
	cr_assert_eq(got, want, "%s at %ld of %u bytes: %u instead of %u", store->text,
		     (long)(at - watched()), len, got, want);
	cr_assert_eq(last()->lock, 0);
}

TestSuite(watch_ahead, .init = set_up, .fini = tear_down, .timeout = 600);

Test(watch_ahead, stores)
{
	static const unsigned int lens[] = {1, 2, 4, 7, 8, 12, 16, 32};

	for (size_t i = 0; i < sizeof(lens) / sizeof(*lens); i++) {
		_cleanup_close_ int fd = make_filter(lens[i]);

		for (size_t s = 0; s < sizeof(stores) / sizeof(*stores); s++)
			for (int round = 0; round < ROUNDS; round++)
				check_once(fd, &stores[s], lens[i]);
	}
}

Test(watch_ahead, others_are_left)
{
	_cleanup_close_ int fd = make_filter(8);
	uint64_t regs[REGISTERS] = {0};
	uint8_t bytes[WATCH_BYTES] = {0};

	memset(memory, 0, sizeof(memory));
	watch_last_set(last(), bytes, true);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		regs[2] = watched();
		cr_expect_eq(run(fd, regs, others[i].word), DOUBT, "%s",
			     others[i].text);
	}
}

Test(watch_ahead, unreadable)
{
	_cleanup_close_ int fd = make_filter(8);
	uint64_t regs[REGISTERS] = {0};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = regs,
		    .ctx_size_in = sizeof(regs));

	regs[AARCH64_PC] = 4096; /* nobody has anything there */
	cr_assert_eq(bpf_prog_test_run_opts(fd, &opts), 0);
	cr_expect_eq(opts.retval, DOUBT);
}

/* ---- conditions, which the stub decides ---- */

/* What a condition compares with 1: the byte at .offset in the memory, or where x5
 * points to, or the lowest byte of a register. */
static const struct condition {
	const char *text;
	int offset;
	int pointer, value; /* registers; 0: none */
} conditions[] = {
	{"the first byte that is watched", WATCHED_AT, 0, 0},
	{"the second", WATCHED_AT + 1, 0, 0},
	{"one before", WATCHED_AT - 1, 0, 0},
	{"the next but 15", WATCHED_AT + 16, 0, 0},
	{"one far away", 0, 0, 0},
	{"what x5 points to", 0, 5, 0},
	{"x3", 0, 0, 3},
	{"the PC", 0, 0, AARCH64_PC},
};

static struct agent_expr *compile_to_bytecode(const struct condition *condition)
{
	uint64_t addr = (uintptr_t)memory + (uint64_t)condition->offset;
	int reg = condition->pointer + condition->value;
	struct text text = {0};

	if (reg > 0)
		text_put(&text, REG(reg));
	else
		text_put(&text, CONST64(addr));
	if (condition->value == 0)
		text_put(&text, AGENT_REF8);
	else
		text_put(&text, ZERO_EXT(8));
	text_put(&text, CONST8(1), AGENT_EQUAL);
	return text_expr(&text);
}

static unsigned int register_bits(void *data, unsigned int number)
{
	(void)data;
	(void)number;
	return 64;
}

static void undecided(void *data, const char *reason)
{
	(void)data;
	cr_assert_fail("%s", reason);
}

/* A program that drops what is false. */
static int make_condition(unsigned int len, bool shared_reads,
			  const struct agent_expr *expr)
{
	const struct bpf_compile_options options = {
		.arch = &arch,
		.site.watch = {.access = true,
			       .addr = watched(),
			       .len = len,
			       .stub_decides = true,
			       .shared_reads = shared_reads},
		.shared_fd = kernel.shared_fd,
	};
	const struct ir_target target = {.slots = SLOTS_MAX,
					 .loop_steps = 1000,
					 .register_bits = register_bits,
					 .undecided = undecided};
	struct agent_expr *one = (struct agent_expr *)expr;
	const struct agent_list list = {.exprs = &one, .count = 1};
	struct compiler c = {.options = &options};
	struct bpf_emitter *e = &c.emitter;
	struct bpf_insn *insns;
	size_t count;
	struct ir ir;
	int fd;

	c.registers = registers(&c.nregisters);
	c.label_maybe = c.label_true = bpf_emit_new_labels(e, 2);
	bpf_emit(e, bpf_alu(BPF_MOV, REG_CONTEXT, BPF_REG_1));
	watch_ahead_note_reads(&c, &list);
	watch_emit(&c, c.label_maybe + 1);
	cr_assert_null(ir_lower(expr, &target, &ir));
	operations_emit(&c, &ir);
	ir_deinit(&ir);
	watch_ahead_keep(&c);
	exits_return(&c, FALSE);
	bpf_emit_bind(e, c.label_maybe);
	exits_return(&c, LEFT_TO_STUB);
	cr_assert_null(bpf_emit_finish(e, &insns, &count));
	fd = load(insns, count);
	free(insns);
	bpf_emitter_deinit(e);
	return fd;
}

/* The byte that the condition reads after the store; -1: not known before it. */
static int read_after(const struct condition *condition, bool shared_reads,
		      unsigned int len, const struct store *store, uint64_t at,
		      const uint64_t *regs, const uint8_t *copy)
{
	bool base_changes =
		strchr(store->text, '!') || strchr(store->text, ']')[1] == ',';
	bool changes = base_changes || strncmp(store->text, "swp", 3) == 0;
	uint64_t addr = (uintptr_t)memory + (uint64_t)condition->offset;
	bool is_known;

	if (condition->value + condition->pointer > 0 && changes)
		return -1;
	if (condition->value == AARCH64_PC)
		return (uint8_t)((uintptr_t)&insn + 4);
	if (condition->value > 0)
		return (uint8_t)regs[condition->value];
	if (condition->pointer > 0)
		addr = regs[condition->pointer] << 8 >> 8;
	/* The program cannot read by an address that has a tag, but for threads that
	 * have asked for that (PR_SET_TAGGED_ADDR_CTRL). */
	if (condition->pointer > 0 && addr != regs[condition->pointer])
		return -1;
	/* Of what it stores, a program knows the bytes that are watched. */
	is_known = condition->pointer == 0 && addr - watched() < len;
	if (!is_known &&
	    (shared_reads || addr - at < store->size * (1 + store->seconds)))
		return -1;
	return copy[addr - (uintptr_t)memory];
}

static void check_condition(int fd, const struct condition *condition,
			    bool shared_reads, const struct store *store,
			    unsigned int len)
{
	uint8_t copy[MEMORY], before[WATCH_BYTES], after[WATCH_BYTES] = {0};
	uint64_t regs[REGISTERS];
	unsigned int size = store->size * (1 + store->seconds), want = LEFT_TO_STUB,
		     got;
	uint64_t at = watched() - 20 + random_below(len + 24);
	int byte;

	if (random_below(2) == 0)
		at = watched() - random_below(2);
	make_memory(len);
	make_registers(store, at, regs);
	if (store->base != 5 && store->index != 5 && store->data != 5)
		regs[5] = (uintptr_t)memory + random_below(MEMORY) +
			  ((uint64_t)random_below(256) << 56);
	else
		regs[5] = 0;
	memcpy(copy, memory, MEMORY);
	do_store(store, regs, at, copy, len);
	memcpy(before, last()->bytes, WATCH_BYTES);
	memcpy(after, copy + WATCHED_AT, len);
	byte = read_after(condition, shared_reads, len, store, at, regs, copy);
	if (at <= watched() && at + size >= watched() + len && byte >= 0 && byte != 1)
		want = FALSE;
	got = run(fd, regs, store->word);
	cr_assert_eq(got, want, "%s at %ld of %u bytes, %s: %u instead of %u",
		     store->text, (long)(at - watched()), len, condition->text, got,
		     want);
	cr_assert_arr_eq(last()->bytes, want == FALSE ? after : before, WATCH_BYTES);
	cr_assert_eq(last()->lock, 0);
}

static void check_conditions(unsigned int len, bool shared_reads)
{
	for (size_t i = 0; i < sizeof(conditions) / sizeof(*conditions); i++) {
		struct agent_expr *expr = compile_to_bytecode(&conditions[i]);
		_cleanup_close_ int fd = make_condition(len, shared_reads, expr);

		for (size_t s = 0; s < sizeof(stores) / sizeof(*stores); s++)
			for (int round = 0; round < ROUNDS; round++)
				check_condition(fd, &conditions[i], shared_reads,
						&stores[s], len);
		agent_expr_unref(expr);
	}
}

Test(watch_ahead, conditions)
{
	static const unsigned int lens[] = {2, 4, 8, 12, 16};

	for (size_t i = 0; i < sizeof(lens) / sizeof(*lens); i++)
		check_conditions(lens[i], false);
}

/* With what becomes of a verdict. */
Test(watch_ahead, whole_program)
{
	static const struct condition condition = {"the first", WATCHED_AT, 0, 0};
	struct agent_expr *expr = compile_to_bytecode(&condition);
	const struct agent_list list = {.exprs = &expr, .count = 1};
	const struct bpf_compile_options options = {
		.arch = &arch,
		.site.watch = {.access = true,
			       .addr = watched(),
			       .len = 8,
			       .stub_decides = true},
		.shared_fd = kernel.shared_fd,
		.ring_fd = kernel.hits.fd,
		.output_fd = kernel.output.fd,
		.task_blocked_offset = -1,
		.loop_steps = 1000,
	};
	struct bpf_code code;

	cr_assert_null(bpf_compile(&list, NULL, &options, &code));
	close(load(code.insns, code.count));
	bpf_code_deinit(&code);
	agent_expr_unref(expr);
}

Test(watch_ahead, conditions_that_others_may_change)
{
	check_conditions(8, true);
}
