/* SPDX-License-Identifier: BSD-2-Clause */
/* Control flow, lists of conditions, and what cannot be decided. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "tests/unit/compiled.h"

TestSuite(compile, .init = set_up, .fini = tear_down, .timeout = 300);

static struct agent_expr *constant_expr(uint8_t value)
{
	return EXPR(CONST8(value), AGENT_END);
}

Test(compile, the_first_condition_that_is_not_false_decides)
{
	struct bpf_compile_options options = default_options();
	struct agent_expr *list[] = {reg_equals(0, 1), reg_equals(ROW_MISSING, 1),
				     reg_equals(1, 1)};
	struct agent_expr *plain[] = {list[0], list[2]};
	int event = start(list, 3, &options, false);

	set_args(1, 0);
	cr_expect_eq(run(), BPF_TRUE);
	set_args(0, 1);
	cr_expect_eq(run(), BPF_MAYBE);
	close(event);
	event = start(plain, 2, &options, false);
	set_args(0, 1);
	cr_expect_eq(run(), BPF_TRUE);
	set_args(1, 0);
	cr_expect_eq(run(), BPF_TRUE);
	set_args(0, 0);
	cr_expect_eq(run(), BPF_FALSE);
	close(event);
	for (int i = 0; i < 3; i++)
		agent_expr_unref(list[i]);
}

Test(compile, constant_conditions)
{
	struct bpf_compile_options options = default_options();
	struct agent_expr *no = constant_expr(0), *yes = constant_expr(7);
	struct agent_expr *lists[][3] = {{no, no, no}, {no, yes, no}, {yes, no, no}};

	for (int i = 0; i < 3; i++) {
		int event = start(lists[i], 3, &options, false);

		cr_expect_eq(run(), i == 0 ? BPF_FALSE : BPF_TRUE);
		close(event);
	}
	agent_expr_unref(no);
	agent_expr_unref(yes);
}

Test(compile, an_empty_list_is_true)
{
	struct bpf_compile_options options = default_options();
	int event = start(NULL, 0, &options, false);

	cr_expect_eq(run(), BPF_TRUE);
	close(event);
}

/* Compiles, expects the note, runs, expects a maybe. */
static void expect_undecided(const struct text *t, const char *note)
{
	struct bpf_compile_options options = default_options();
	struct agent_expr *expr = text_expr(t);
	struct bpf_code code;
	struct error *error = compile(&expr, 1, &options, &code);
	int event;

	cr_assert_null(error);
	cr_assert_not_null(code.undecided);
	cr_expect_str_eq(code.undecided, note);
	bpf_code_deinit(&code);
	event = start(&expr, 1, &options, false);
	cr_expect_eq(run(), BPF_MAYBE);
	close(event);
	agent_expr_unref(expr);
}

static void expect_doubts(const struct text *t, unsigned int doubts)
{
	struct bpf_compile_options options = default_options();
	struct agent_expr *expr = text_expr(t);
	struct bpf_code code;

	cr_assert_null(compile(&expr, 1, &options, &code));
	cr_expect_null(code.undecided);
	cr_expect_eq(code.doubts, doubts, "0x%x", code.doubts);
	bpf_code_deinit(&code);
	agent_expr_unref(expr);
}

Test(compile, what_may_become_a_maybe_is_told)
{
	struct text plain = {0}, reads = {0}, divides = {0};

	text_put(&plain, REG(0));
	expect_doubts(&plain, 0);

	text_put(&reads, REG(0), AGENT_REF8);
	expect_doubts(&reads, 1U << BPF_DOUBT_PAGE | 1U << BPF_DOUBT_TRAP);

	text_put(&divides, REG(0), REG(1), AGENT_REM_UNSIGNED);
	expect_doubts(&divides, 1U << BPF_DOUBT_DIVISOR);
	divides.len = 3;
	text_put(&divides, CONST8(7), AGENT_REM_UNSIGNED);
	expect_doubts(&divides, 0);
}

Test(compile, what_cannot_be_decided_is_a_maybe)
{
	struct text missing = {0}, deep = {0}, loop;
	struct text zero = {0}, variable = {0};

	text_put(&missing, REG(ROW_MISSING), REG(ROW_MISSING), AGENT_ADD);
	expect_undecided(&missing, "reads $xmm0");

	missing.bytes[2] = 99;
	expect_undecided(&missing, "reads register 99");

	for (uint16_t i = 0; i < 80; i++)
		push_argument(&deep, i % NARGS, FROM_SLOT);
	loop = deep;
	text_put(&loop, REG(0), IF_GOTO(loop.len));
	for (int i = 0; i < 79; i++) {
		text_put(&deep, AGENT_SUB);
		text_put(&loop, AGENT_SUB);
	}
	expect_undecided(&deep, "needs a deeper stack");
	expect_undecided(&loop, "needs a deeper stack");

	text_put(&zero, REG(0), CONST8(0), AGENT_DIV_SIGNED);
	expect_undecided(&zero, "divides by zero");

	text_put(&variable, REG(0), SETV(1), GETV(1), AGENT_EQUAL);
	expect_undecided(&variable, "uses a trace state variable");
}

/* for (cell = $a0; cell != 0; cell--) sum += cell; and sum == $a1 */
static struct agent_expr *make_sum(void)
{
	struct text t = {0};
	size_t over, head;

	text_put(&t, CONST8(0), REG(0));
	head = t.len;
	text_put(&t, AGENT_DUP, AGENT_LOG_NOT);
	over = text_jump(&t, AGENT_IF_GOTO);
	text_put(&t, AGENT_SWAP, PICK(1), AGENT_ADD, AGENT_SWAP, CONST8(1), AGENT_SUB,
		 GOTO(head));
	text_land(&t, over);
	text_put(&t, AGENT_POP, REG(1), AGENT_EQUAL);
	return text_expr(&t);
}

Test(compile, loops_are_exact_for_as_many_rounds_as_they_get)
{
	struct bpf_compile_options options = default_options();
	struct agent_expr *expr = make_sum();

	for (int hide = 0; hide < 2; hide++) {
		const uint64_t operations = 11; /* in a round */
		uint64_t n = 0, rounds;
		int event;

		options.hide_constants = hide;
		event = start(&expr, 1, &options, false);
		do {
			rounds = n++;
			set_args(n, n * (n + 1) / 2 + 1);
		} while (run() == BPF_FALSE);
		cr_expect_geq(rounds, LOOP_STEPS / 2 / operations);
		cr_expect_leq(rounds, LOOP_STEPS / operations);
		for (n = 0; n < rounds; n++) {
			set_args(n, n * (n + 1) / 2);
			cr_expect_eq(run(), BPF_TRUE);
		}
		set_args(rounds + 1, 0);
		cr_expect_eq(run(), BPF_MAYBE);
		set_args(UINT64_MAX, 0);
		cr_expect_eq(run(), BPF_MAYBE);
		close(event);
	}
	agent_expr_unref(expr);
}

/* What jumps back from code that is never reached is no loop. */
Test(compile, endless_and_empty_loops)
{
	struct bpf_compile_options options = default_options();
	struct text endless = {0}, entered = {0};
	struct agent_expr *exprs[2];
	int event;

	text_put(&endless, GOTO(0));
	text_put(&entered, CONST8(1), IF_GOTO(11)); /* always: over the loop */
	text_put(&entered, REG(0), IF_GOTO(5), CONST8(1));
	exprs[0] = text_expr(&entered);
	exprs[1] = text_expr(&endless);
	event = start(exprs, 1, &options, false);
	cr_expect_eq(run(), BPF_TRUE);
	close(event);
	event = start(exprs + 1, 1, &options, false);
	cr_expect_eq(run(), BPF_MAYBE);
	close(event);
	agent_expr_unref(exprs[0]);
	agent_expr_unref(exprs[1]);
}

Test(compile, a_missing_register_matters_on_its_path_only)
{
	struct bpf_compile_options options = default_options();
	struct text t = {0};
	struct agent_expr *expr;
	size_t over;
	int event;

	text_put(&t, CONST8(0), REG(0));
	over = text_jump(&t, AGENT_IF_GOTO);
	text_put(&t, AGENT_POP, REG(ROW_MISSING));
	text_land(&t, over);
	expr = text_expr(&t);
	event = start(&expr, 1, &options, false);
	set_args(1, 0);
	cr_expect_eq(run(), BPF_FALSE);
	set_args(0, 0);
	cr_expect_eq(run(), BPF_MAYBE);
	close(event);
	agent_expr_unref(expr);
}

/* It is in no name space that we know: no record can say whose hit it is. */
static void expect_maybe_of_nobody(void)
{
	struct tally_hits hits;

	call_hit();
	await_return();
	hits = tally_total(fixture.shared, LOCATION);
	cr_expect_eq(hits.by[BPF_FALSE] + hits.by[BPF_TRUE], 0);
	cr_expect_gt(hits.by[BPF_MAYBE], 0);
	cr_expect_eq(fixture.shared->locations[LOCATION].lost, 1);
}

/* Its number in the name space that the options name. */
Test(compile, the_threads_number)
{
	struct bpf_compile_options options = default_options();
	struct agent_expr *right = EXPR(REG(AGENT_REG_THREAD), CONST32(fixture.child),
					AGENT_EQUAL, REG(0), AGENT_BIT_AND, AGENT_END);
	struct agent_expr *wrong =
		EXPR(REG(AGENT_REG_THREAD), CONST32(fixture.child + 1), AGENT_EQUAL,
		     AGENT_END);
	struct stat ns;
	int event;

	cr_assert_eq(stat("/proc/self/ns/pid", &ns), 0);
	options.pid_ns_device = (uint64_t)major(ns.st_dev) << 20 | minor(ns.st_dev);
	options.pid_ns_inode = ns.st_ino;
	event = start(&right, 1, &options, false);
	set_args(1, 0);
	cr_expect_eq(run(), BPF_TRUE);
	set_args(0, 0);
	cr_expect_eq(run(), BPF_FALSE);
	close(event);
	event = start(&wrong, 1, &options, false);
	cr_expect_eq(run(), BPF_FALSE);
	close(event);
	options.pid_ns_device = options.pid_ns_inode = 1;
	event = start(&wrong, 1, &options, false);
	expect_maybe_of_nobody();
	close(event);
	agent_expr_unref(right);
	agent_expr_unref(wrong);
}

Test(compile, the_deepest_stack_that_fits)
{
	struct bpf_compile_options options = default_options();
	struct text t = {0};
	struct agent_expr *expr;
	int event;

	for (uint16_t i = 0; i < 62; i++)
		push_argument(&t, i % NARGS, FROM_SLOT);
	for (int i = 0; i < 61; i++)
		text_put(&t, i % 3 ? AGENT_SUB : AGENT_ROT);
	expr = text_expr(&t);
	event = start(&expr, 1, &options, false);
	for (unsigned int i = 0; i < EDGE_VALUES; i++) {
		set_args(edge_values[i], edge_values[EDGE_VALUES - 1 - i]);
		expect_as_interpreted(expr);
	}
	close(event);
	agent_expr_unref(expr);
}

/* Long code is an error, not a wrong jump. */
Test(compile, too_much_code)
{
	struct bpf_compile_options options = default_options();
	size_t len = 60000;
	uint8_t *bytes = malloc(len);
	struct agent_expr *expr = NULL;
	struct bpf_code code;
	_cleanup_error_ struct error *error = NULL;

	cr_assert_not_null(bytes);
	memset(bytes, AGENT_BIT_NOT, len);
	bytes[0] = AGENT_REG;
	bytes[1] = bytes[2] = 0;
	bytes[3] = AGENT_REF8;
	bytes[len - 1] = AGENT_END;
	cr_assert_null(agent_expr_create(bytes, len, &expr));
	error = compile(&expr, 1, &options, &code);
	cr_assert_not_null(error);
	cr_expect_str_eq(error_text(error),
			 "the condition needs more code than a jump can span");
	agent_expr_unref(expr);
	free(bytes);
}

Test(compile, a_location_that_does_not_exist)
{
	struct bpf_compile_options options = default_options();
	struct bpf_code code;
	_cleanup_error_ struct error *error = NULL;

	options.location = BPF_LOCATIONS_MAX;
	error = bpf_compile(NULL, NULL, &options, &code);
	cr_expect_not_null(error);
}
