/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trace state variables in compiled conditions, run by the kernel at a breakpoint of
 * this very process, held against the interpreter. No hit stops anybody: the events
 * raise no signal.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gdbstub/agent/insn.h"
#include "gdbstub/agent/interp.h"
#include "gdbstub/agent/print.h"
#include "gdbstub/agent/variables.h"
#include "bpf/emit/compiler.h"
#include "bpf/kernel/hw_event.h"
#include "bpf/placement/program.h"
#include "tests/unit/expr.h"
#include "tests/unit/rng.h"
#include "tests/unit/support.h"

enum { NVARIABLES = 6, NINPUTS = 4, FIRST = 10 /* number of the first variable */ };

static struct bpf_kernel kernel;
static struct programs programs;
static struct variables variables; /* those that the programs see */
static struct program *program;
static int event = -1;
static unsigned int records;
static uint64_t inputs[NINPUTS];

void hit(void);

/* The breakpoint is here. */
__attribute__((noinline)) void hit(void)
{
	__asm__ volatile("" : : : "memory");
}

static void on_record(void *data, const struct bpf_hit_record *record)
{
	(void)data;
	(void)record;
	records++;
}

static void set_up(void)
{
	survive_unexplained_traps();
	start_programs(&kernel, &programs, on_record, NULL);
	if (kernel.task_blocked_offset < 0)
		cr_skip_test("programs stop this process by SIGSTOP here");
	variables_share(&variables, &kernel.shared->variables);
}

static void take_out(void)
{
	cleanup_close(&event);
	program_put(&programs, program);
	program = NULL;
}

static void tear_down(void)
{
	take_out();
	programs_deinit(&programs);
	bpf_kernel_deinit(&kernel);
	variables_deinit(&variables);
}

TestSuite(variables_kernel, .init = set_up, .fini = tear_down, .timeout = 300);

/* ---- expressions ---- */

/* getv or setv of the variable FIRST + i */
static void use(struct text *t, enum agent_code code, unsigned int i)
{
	text_op(t, code, FIRST + i);
}

static void memory(struct text *t, uint64_t address)
{
	text_put(t, CONST64(address), AGENT_REF64);
}

/* $i = $i + 1, which is left on the stack */
static void increment(struct text *t, unsigned int i)
{
	use(t, AGENT_GETV, i);
	text_put(t, CONST8(1), AGENT_ADD);
	use(t, AGENT_SETV, i);
}

static void append(struct agent_list *list, struct text *t)
{
	cr_assert_eq(agent_list_append(list, text_expr(t)), 0);
	*t = (struct text){0};
}

/* ---- in the kernel ---- */

/* The conditions are in place at hit(), for threads that are made from now on, too. */
static void put_in(const struct agent_list *conditions)
{
	struct hw_event_options options = {.arch = arch_native()};
	const struct hw_region region = {HW_EXECUTE, (uintptr_t)hit, 1};
	struct error *error = variables_mention(&variables, conditions);

	cr_assert_null(error);
	error = program_get(&programs, conditions, NULL, NULL, &program);
	cr_assert_null(error, "%s", error ? error_text(error) : "");
	cr_assert_null(program->refused, "%s", program->refused);
	cr_assert_eq(options.arch->hw_plan(&region, &options.region, 1), 1);
	options.program_fd = program->fd;
	need_breakpoint_registers();
	event = hw_event_open(&options, 0);
	if (event == -ENOSPC || event == -ENOENT || event == -EOPNOTSUPP)
		cr_skip_test("no hardware breakpoint to be had: %s", strerror(-event));
	cr_assert_geq(event, 0, "%s", strerror(-event));
	cr_assert_eq(hw_event_enable(event), 0);
}

static void put_in_text(struct text *t)
{
	struct agent_list list = {0};

	append(&list, t);
	put_in(&list);
	agent_list_clear(&list);
}

static uint64_t count(enum bpf_verdict verdict)
{
	return tally_total(kernel.shared, program->location).by[verdict];
}

static enum bpf_verdict pass(void)
{
	enum bpf_verdict verdict = BPF_FALSE;

	tally_clear(kernel.shared, program->location);
	hit();
	cr_assert_eq(count(BPF_FALSE) + count(BPF_TRUE) + count(BPF_MAYBE), 1);
	while (count(verdict) == 0)
		verdict++;
	bpf_kernel_drain(&kernel);
	cr_assert_eq(kernel.shared->variables.lock, 0, "who keeps the lock?");
	return verdict;
}

static void expect(unsigned int i, int64_t value)
{
	uint64_t found = 0;

	cr_assert(variables_get(&variables, FIRST + i, &found));
	cr_assert_eq((int64_t)found, value, "$%u = %lld, not %lld", i, (long long)found,
		     (long long)value);
}

static void set(unsigned int i, int64_t value)
{
	cr_assert_null(variables_set(&variables, FIRST + i, value));
}

Test(variables_kernel, a_condition_counts)
{
	struct text t = {0};

	increment(&t, 0);
	text_put(&t, CONST8(3), AGENT_EQUAL);
	put_in_text(&t);
	for (int i = 1; i < 6; i++) {
		cr_expect_eq(pass(), i == 3 ? BPF_TRUE : BPF_FALSE);
		expect(0, i);
	}
	cr_expect_null(program->code.undecided);
}

Test(variables_kernel, an_ignored_hit_counts_too)
{
	struct text t = {0};

	increment(&t, 0);
	put_in_text(&t);
	gate_set(&kernel.shared->locations[program->location].gate, 2);
	for (int i = 1; i < 5; i++) {
		cr_expect_eq(pass(), BPF_TRUE);
		expect(0, i);
	}
	cr_expect_eq(records, 2);
}

Test(variables_kernel, a_loop_counts)
{
	struct text t = {0};

	text_put(&t, CONST8(10));
	increment(&t, 0);
	text_put(&t, AGENT_POP, CONST8(1), AGENT_SUB, AGENT_DUP);
	text_put(&t, IF_GOTO(2)); /* after the first constant */
	put_in_text(&t);
	for (int i = 1; i < 4; i++) {
		cr_expect_eq(pass(), BPF_FALSE);
		expect(0, 10 * i);
	}
}

Test(variables_kernel, a_maybe_changes_nothing)
{
	struct text t = {0};

	increment(&t, 0);
	memory(&t, 8);
	text_put(&t, AGENT_ADD);
	put_in_text(&t);
	set(0, 7);
	cr_expect_eq(pass(), BPF_MAYBE);
	expect(0, 7);
}

Test(variables_kernel, a_maybe_of_a_later_condition_changes_nothing)
{
	struct agent_list list = {0};
	struct text t = {0};

	text_put(&t, CONST8(1));
	use(&t, AGENT_SETV, 0);
	text_put(&t, AGENT_LOG_NOT);
	append(&list, &t);
	memory(&t, 8);
	append(&list, &t);
	put_in(&list);
	agent_list_clear(&list);
	cr_expect_eq(pass(), BPF_MAYBE);
	expect(0, 0);
}

/* Then the stub evaluates the hit, so that the program must not have. */
Test(variables_kernel, a_lost_record_changes_nothing)
{
	struct text t = {0};
	const uint64_t *lost;

	increment(&t, 0);
	put_in_text(&t);
	lost = &kernel.shared->locations[program->location].lost;
	for (int i = 0; *lost == 0 && i < 1000000; i++)
		hit();
	cr_assert_gt(*lost, 0);
	hit();
	hit();
	bpf_kernel_drain(&kernel);
	cr_expect_geq(*lost, 3);
	expect(0, records);
}

/* That cannot be a program: it would have ended. */
Test(variables_kernel, a_lock_that_is_not_given_back_is_a_maybe)
{
	struct text t = {0};

	increment(&t, 0);
	put_in_text(&t);
	kernel.shared->variables.lock = 1;
	hit();
	cr_expect_eq(count(BPF_MAYBE), 1);
	cr_expect_eq(kernel.shared->variables.lock, 1);
	expect(0, 0);
	kernel.shared->variables.lock = 0;
	cr_expect_eq(pass(), BPF_TRUE);
	expect(0, 1);
}

Test(variables_kernel, one_that_is_only_read_needs_no_lock)
{
	struct text t = {0};

	use(&t, AGENT_GETV, 0);
	put_in_text(&t);
	cr_expect_eq(pass(), BPF_MAYBE, "it has no value yet");
	set(0, 0);
	cr_expect_eq(pass(), BPF_FALSE);
	set(0, 1);
	kernel.shared->variables.lock = 1;
	tally_clear(kernel.shared, program->location);
	hit();
	cr_expect_eq(count(BPF_TRUE), 1);
	kernel.shared->variables.lock = 0;
}

/* sum = 0 + 1 + ... + (n - 1), by @n cells; then for each variable: sum = $i += sum */
static void deep(struct text *t, unsigned int n, unsigned int nvariables)
{
	for (unsigned int i = 0; i < n; i++) {
		memory(t, (uintptr_t)&inputs[i % NINPUTS]);
		text_put(t, CONST8(i), AGENT_ADD);
	}
	for (unsigned int i = 1; i < n; i++)
		text_put(t, AGENT_ADD);
	for (unsigned int i = 0; i < nvariables; i++) {
		use(t, AGENT_GETV, i);
		text_put(t, AGENT_ADD);
		use(t, AGENT_SETV, i);
	}
}

static void set_all(int64_t value)
{
	for (unsigned int i = 0; i < PROGRAM_VARIABLES_MAX; i++)
		set(i, value);
}

/* Up to where the stack would meet them. */
Test(variables_kernel, room_in_the_frame)
{
	unsigned int decided = 0;

	for (unsigned int n = 36; n < 56; n++) {
		struct text t = {0};

		set_all(10000);
		deep(&t, n, PROGRAM_VARIABLES_MAX);
		put_in_text(&t);
		if (program->code.undecided) {
			cr_expect_eq(pass(), BPF_MAYBE);
			cr_expect_str_eq(program->code.undecided,
					 "needs a deeper stack");
		} else {
			cr_expect_eq(pass(), BPF_TRUE);
			for (unsigned int i = 0; i < PROGRAM_VARIABLES_MAX; i++)
				expect(i, n * (n - 1) / 2 + 10000 * (i + 1));
			decided++;
		}
		take_out();
	}
	cr_expect_gt(decided, 0);
	cr_expect_lt(decided, 20);
}

Test(variables_kernel, more_than_eight_are_left_to_the_stub)
{
	struct text t = {0};

	deep(&t, 2, PROGRAM_VARIABLES_MAX + 1);
	put_in_text(&t);
	cr_assert_not_null(program->code.undecided);
	cr_expect_str_eq(program->code.undecided,
			 "uses more than 8 trace state variables");
	cr_expect_eq(pass(), BPF_MAYBE);
	expect(0, 0);
}

/* ---- threads ---- */

enum { THREADS = 8, HITS = 4000, DRAFTS = 20000 };

static void *pass_often(void *data)
{
	(void)data;
	for (int i = 0; i < HITS; i++)
		hit();
	return NULL;
}

/* What the stub does meanwhile: once the first variable, and twice the second. */
static void evaluate_often(void)
{
	for (int i = 0; i < DRAFTS; i++) {
		struct variables_draft draft;
		uint64_t value;

		variables_draft_init(&draft, &variables);
		variables_draft_read(&draft, FIRST, &value);
		variables_draft_write(&draft, FIRST, value + 1);
		variables_draft_read(&draft, FIRST + 1, &value);
		variables_draft_write(&draft, FIRST + 1, value + 2);
		variables_draft_commit(&draft);
	}
}

/* In each moment $1 is twice $0; else the condition is true. */
Test(variables_kernel, threads_and_the_stub_count_exactly)
{
	struct text t = {0};
	pthread_t threads[THREADS];
	int64_t total;

	use(&t, AGENT_GETV, 0);
	text_put(&t, CONST8(2), AGENT_MUL);
	use(&t, AGENT_GETV, 1);
	text_put(&t, AGENT_EQUAL, AGENT_LOG_NOT);
	increment(&t, 0);
	text_put(&t, AGENT_POP);
	/* Some time, in which others come. */
	for (int i = 0; i < 50; i++) {
		memory(&t, (uintptr_t)inputs);
		text_put(&t, AGENT_ADD);
	}
	increment(&t, 1);
	text_put(&t, AGENT_POP);
	increment(&t, 1);
	text_put(&t, AGENT_POP);
	put_in_text(&t);
	for (int i = 0; i < THREADS; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, pass_often, NULL), 0);
	evaluate_often();
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	cr_expect_eq(count(BPF_TRUE), 0);
	cr_expect_gt(count(BPF_FALSE), 0);
	total = (int64_t)count(BPF_FALSE) + DRAFTS;
	cr_expect_eq(count(BPF_FALSE) + count(BPF_MAYBE), THREADS * HITS);
	expect(0, total);
	expect(1, 2 * total);
}

/* ---- the interpreter ---- */

static int read_memory(void *data, uint64_t addr, void *value, size_t len)
{
	(void)data;
	if (addr < 4096)
		return -EFAULT;
	memcpy(value, (const void *)(uintptr_t)addr, len);
	return 0;
}

static int read_register(void *data, unsigned int number, uint64_t *value)
{
	(void)data;
	(void)number;
	(void)value;
	return -ENODATA;
}

static int read_variable(void *data, unsigned int number, uint64_t *value)
{
	return variables_draft_read(data, number, value);
}

static int write_variable(void *data, unsigned int number, uint64_t value)
{
	return variables_draft_write(data, number, value);
}

/* As the kernel should: a maybe leaves the model as it was. */
static enum bpf_verdict interpret(const struct agent_list *list,
				  struct variables *model)
{
	const struct variable_cells before = model->own;
	struct variables_draft draft;
	const struct agent_context context = {
		.read_memory = read_memory,
		.read_register = read_register,
		.read_variable = read_variable,
		.write_variable = write_variable,
		.data = &draft,
	};
	enum bpf_verdict verdict = BPF_FALSE;

	variables_draft_init(&draft, model);
	for (size_t i = 0; i < list->count && verdict == BPF_FALSE; i++) {
		uint64_t value = 0;
		_cleanup_error_ struct error *error =
			agent_expr_evaluate(list->exprs[i], &context, &value);

		if (error)
			verdict = BPF_MAYBE;
		else if (value)
			verdict = BPF_TRUE;
	}
	variables_draft_commit(&draft);
	if (verdict == BPF_MAYBE)
		model->own = before;
	return verdict;
}

/* ---- any conditions ---- */

static struct rng rng = {1};

static unsigned int below(unsigned int limit)
{
	return rng_below(&rng, limit);
}

/* if (input) $i = ... */
static void assign_on_a_path(struct text *t)
{
	size_t at;

	memory(t, (uintptr_t)&inputs[below(NINPUTS)]);
	text_put(t, CONST8(1), AGENT_BIT_AND);
	at = text_jump(t, AGENT_IF_GOTO);
	increment(t, below(NVARIABLES));
	text_put(t, AGENT_POP);
	text_land(t, at);
}

static void push_something(struct text *t)
{
	unsigned int kind = below(16);

	if (kind < 4)
		text_op(t, AGENT_CONST8, below(256));
	else if (kind == 4)
		memory(t, 8);
	else if (kind < 8)
		memory(t, (uintptr_t)&inputs[below(NINPUTS)]);
	else
		use(t, AGENT_GETV, below(NVARIABLES));
}

static void any_expression(struct text *t)
{
	static const uint8_t binaries[] = {
		AGENT_ADD,	   AGENT_SUB,	  AGENT_MUL, AGENT_EQUAL,
		AGENT_LESS_SIGNED, AGENT_BIT_XOR, AGENT_LSH, AGENT_REM_UNSIGNED};
	unsigned int depth = 0, length = 4 + below(12);

	for (unsigned int i = 0; i < length || depth != 1; i++) {
		unsigned int kind = below(4);

		if (depth == 0 || (i < length && kind == 0)) {
			push_something(t);
			depth++;
		} else if (kind == 1) {
			use(t, AGENT_SETV, below(NVARIABLES));
		} else if (kind == 2) {
			assign_on_a_path(t);
		} else if (depth > 1) {
			text_op(t, binaries[below(sizeof(binaries))], 0);
			depth--;
		}
	}
	if (below(2)) {
		text_put(t, CONST8(1), AGENT_BIT_AND);
	}
}

static void compare(const struct agent_list *list, struct variables *model)
{
	enum bpf_verdict expected, got;
	_cleanup_buffer_ struct buffer text = {0};
	uint64_t wanted;

	for (int i = 0; i < NINPUTS; i++)
		inputs[i] = below(3) ? below(4) : rng_next(&rng) << 32;
	expected = interpret(list, model);
	got = pass();
	for (size_t i = 0; i < list->count; i++)
		agent_expr_disassemble(list->exprs[i], NULL, &text);
	cr_assert_eq(got, expected, "kernel: %d, interpreter: %d\n%s", got, expected,
		     buffer_string(&text));
	for (unsigned int i = 0; i < NVARIABLES; i++) {
		variables_get(model, FIRST + i, &wanted);
		expect(i, (int64_t)wanted);
	}
}

Test(variables_kernel, any_conditions_as_interpreted)
{
	struct variables model = {0};

	for (unsigned int i = 0; i < NVARIABLES; i++) {
		set(i, i);
		cr_assert_null(variables_set(&model, FIRST + i, i));
	}
	for (int program_index = 0; program_index < 100; program_index++) {
		struct agent_list list = {0};
		struct text t = {0};

		for (unsigned int i = 0; i <= below(3); i++) {
			any_expression(&t);
			append(&list, &t);
		}
		put_in(&list);
		for (int i = 0; i < 10; i++)
			compare(&list, &model);
		take_out();
		agent_list_clear(&list);
	}
}
