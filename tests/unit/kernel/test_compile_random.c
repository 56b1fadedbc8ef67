/* SPDX-License-Identifier: BSD-2-Clause */
/* Random programs. */
#include <criterion/criterion.h>
#include <unistd.h>

#include "tests/unit/compiled.h"
#include "tests/unit/rng.h"

TestSuite(compile, .init = set_up, .fini = tear_down, .timeout = 300);

struct random {
	struct rng rng;
	bool loops; /* are there any? */
};

static unsigned int draw(struct random *r, unsigned int below)
{
	return rng_below(&r->rng, below);
}

static void random_value(struct random *r, struct text *t, unsigned int level);

static void random_leaf(struct random *r, struct text *t)
{
	switch (draw(r, 5)) {
	case 0:
		text_op(t, AGENT_CONST64, edge_values[draw(r, EDGE_VALUES)]);
		break;
	case 1:
		text_op(t, AGENT_CONST8, draw(r, 256));
		break;
	case 2:
		text_op(t, AGENT_REG, draw(r, 60) ? ROW_32 + draw(r, 4) : ROW_MISSING);
		break;
	default:
		text_op(t, AGENT_REG, draw(r, NARGS));
	}
}

static void random_unary(struct random *r, struct text *t)
{
	switch (draw(r, 4)) {
	case 0:
		text_put(t, AGENT_LOG_NOT);
		break;
	case 1:
		text_put(t, AGENT_BIT_NOT);
		break;
	case 2:
		text_op(t, AGENT_EXT, 1 + draw(r, 70));
		break;
	default:
		text_op(t, AGENT_ZERO_EXT, draw(r, 70));
	}
}

static void random_binary(struct random *r, struct text *t)
{
	text_op(t, binary_codes[draw(r, BINARY_CODES)], 0);
}

static void random_ref(struct random *r, struct text *t, unsigned int level)
{
	random_value(r, t, level);
	if (draw(r, 20)) {
		text_put(t, CONST8(MEMORY_SIZE / 2 - 1), AGENT_BIT_AND,
			 CONST64((uintptr_t)memory), AGENT_ADD);
	} else {
		text_put(t, ZERO_EXT(12));
	}
	text_op(t, (uint8_t)(AGENT_REF8 + draw(r, 4)), 0);
}

static void random_branch(struct random *r, struct text *t, unsigned int level)
{
	size_t over, end = 0;
	bool leaves;

	random_value(r, t, level);
	over = text_jump(t, AGENT_IF_GOTO);
	random_value(r, t, level);
	leaves = draw(r, 10) == 0;
	if (leaves)
		text_put(t, AGENT_END);
	else
		end = text_jump(t, AGENT_GOTO);
	text_land(t, over);
	random_value(r, t, level);
	if (!leaves)
		text_land(t, end);
}

/* Three values, shuffled, made one. */
static void random_shuffle(struct random *r, struct text *t, unsigned int level)
{
	static const uint8_t codes[] = {AGENT_SWAP, AGENT_ROT, AGENT_ROT, AGENT_SWAP};
	unsigned int depth = 3, steps = draw(r, 6);

	for (int i = 0; i < 3; i++)
		random_value(r, t, level);
	for (; steps > 0; steps--) {
		if (draw(r, 3)) {
			text_op(t, codes[draw(r, sizeof(codes))], 0);
		} else {
			text_op(t, AGENT_PICK, draw(r, depth));
			depth++;
		}
		if (draw(r, 8) == 0) {
			random_branch(r, t, 0);
			text_put(t, AGENT_ADD);
		}
	}
	for (; depth > 1; depth--) {
		if (draw(r, 5))
			random_binary(r, t);
		else
			text_put(t, AGENT_POP);
	}
}

/* A value, and a count of rounds: do { value = f(value) } while (--count). For a
 * count of 0, many rounds. */
static void random_loop(struct random *r, struct text *t, unsigned int level)
{
	size_t head;

	random_value(r, t, level);
	text_op(t, AGENT_REG, draw(r, NARGS));
	text_op(t, AGENT_CONST8, draw(r, 8));
	text_put(t, AGENT_BIT_AND);
	head = t->len;
	text_put(t, AGENT_SWAP);
	random_value(r, t, level);
	random_binary(r, t);
	if (draw(r, 2))
		random_unary(r, t);
	text_put(t, AGENT_SWAP, CONST8(1), AGENT_SUB, AGENT_DUP, IF_GOTO(head),
		 AGENT_POP);
}

static void random_value(struct random *r, struct text *t, unsigned int level)
{
	if (level == 0) {
		random_leaf(r, t);
		return;
	}
	level--;
	if (r->loops && draw(r, 6) == 0) {
		random_loop(r, t, level);
		return;
	}
	switch (draw(r, 8)) {
	case 0:
		random_leaf(r, t);
		break;
	case 1:
		random_value(r, t, level);
		random_unary(r, t);
		break;
	case 2:
		random_ref(r, t, level);
		break;
	case 3:
		random_branch(r, t, level);
		break;
	case 4:
		random_shuffle(r, t, level);
		break;
	default:
		random_value(r, t, level);
		random_value(r, t, level);
		random_binary(r, t);
	}
}

static void random_args(struct random *r)
{
	for (unsigned int i = 0; i < NARGS; i++)
		fixture.exchange->args[i] = draw(r, 2)
						    ? edge_values[draw(r, EDGE_VALUES)]
						    : rng_next(&r->rng);
}

/* A random value, compared to what it is for the first arguments. */
static struct agent_expr *random_condition(struct random *r)
{
	struct text t = {0}, bare;
	struct agent_expr *expr;
	uint64_t value = 0;

	random_value(r, &t, 4);
	bare = t;
	expr = text_expr(&bare);
	random_args(r);
	interpret(expr, &value);
	agent_expr_unref(expr);
	text_op(&t, AGENT_CONST64, draw(r, 4) ? value : value ^ 1);
	text_put(&t, AGENT_EQUAL);
	return text_expr(&t);
}

static void try_random(uint64_t seed, bool loops, unsigned int count)
{
	struct random r = {{seed}, loops};
	struct bpf_compile_options options = default_options();
	unsigned int verdicts[3] = {0};
	bool natively = bpf_kernel_divides_signed();

	for (unsigned int i = 0; i < count; i++) {
		struct agent_expr *expr = random_condition(&r);
		int event;

		options.signed_division = natively && i % 2;
		options.hide_constants = loops || i % 3 == 0;
		event = try_start(&expr, 1, &options, false);
		for (int j = 0; event >= 0 && j < 4; j++) {
			verdicts[expect_as_interpreted(expr)]++;
			random_args(&r);
		}
		close(event);
		agent_expr_unref(expr);
	}
	/* The programs have to be of some use. */
	cr_expect_gt(verdicts[BPF_FALSE], count / 2);
	cr_expect_gt(verdicts[BPF_TRUE], count / 2);
	cr_expect_gt(verdicts[BPF_MAYBE], count / 10);
	cr_log_info("false %u, true %u, maybe %u", verdicts[BPF_FALSE],
		    verdicts[BPF_TRUE], verdicts[BPF_MAYBE]);
}

Test(compile, random_programs)
{
	try_random(0x9e3779b97f4a7c15, false, 300);
}

Test(compile, random_programs_that_loop)
{
	try_random(0xd1b54a32d192ed03, true, 100);
}
