/* SPDX-License-Identifier: BSD-2-Clause */
/* How much code conditions become, and how far the verifier walks through it. */
#include <bpf/bpf.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "gdbstub/agent/insn.h"
#include "gdbstub/ir/lower.h"
#include "bpf/placement/program.h"
#include "tests/unit/expr.h"
#include "tests/unit/support.h"

static struct bpf_kernel kernel;
static struct programs programs;

static void set_up(void)
{
	start_programs(&kernel, &programs, no_record, NULL);
}

static void tear_down(void)
{
	programs_deinit(&programs);
	bpf_kernel_deinit(&kernel);
}

TestSuite(code, .timeout = 300);
TestSuite(code_in_kernel, .init = set_up, .fini = tear_down, .timeout = 300);

/* Registers 1 and 2 have 32 and 8 bits. */
static unsigned int register_bits(void *data, unsigned int number)
{
	(void)data;
	return number == 1 ? 32 : number == 2 ? 8 : 64;
}

static void undecided(void *data, const char *reason)
{
	(void)data;
	(void)reason;
}

static struct ir make_ir(const uint8_t *bytes, size_t len)
{
	const struct ir_target target = {
		.slots = 60,
		.loop_steps = 1000,
		.register_bits = register_bits,
		.undecided = undecided,
	};
	struct agent_expr *expr = make_expr(bytes, len);
	struct ir ir;

	cr_assert_null(ir_lower(expr, &target, &ir));
	agent_expr_unref(expr);
	return ir;
}

/* What a condition costs; in BPF, beyond one that only reads memory as often. */
struct cost {
	size_t operations; /* of the IR */
	size_t insns;	   /* of BPF */
	size_t verified;   /* ... that the verifier walks through */
};

static struct cost cost_in_kernel(const uint8_t *bytes, size_t len)
{
	struct agent_expr *expr = make_expr(bytes, len);
	const struct agent_list conditions = {&expr, 1};
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);
	struct program *program = NULL;

	cr_assert_null(program_get(&programs, &conditions, NULL, NULL, &program));
	cr_assert_null(program->refused);
	agent_expr_unref(expr);
	cr_assert_eq(bpf_obj_get_info_by_fd(program->fd, &info, &size), 0);
	return (struct cost){0, program->code.count, info.verified_insns};
}

/* reg 6; ref8, and all but the last result is dropped */
static struct cost cost_of_reads(unsigned int count)
{
	struct text text = {0};

	for (unsigned int i = 0; i < count; i++)
		text_put(&text, REG(6), AGENT_REF8, AGENT_POP);
	text.len -= count > 0; /* the last pop */
	text_put(&text, AGENT_END);
	return cost_in_kernel(text.bytes, text.len);
}

static struct cost cost_of(const uint8_t *bytes, size_t len)
{
	struct cost cost = cost_in_kernel(bytes, len), reads;
	struct ir ir = make_ir(bytes, len);
	unsigned int count = 0;

	for (size_t i = 0; i < ir.count; i++)
		count += ir.insns[i].op == IR_REF;
	reads = cost_of_reads(count);
	cost.operations = ir.count;
	cost.insns -= reads.insns;
	cost.verified -= reads.verified;
	ir_deinit(&ir);
	return cost;
}

/* As gdb 13 makes them, on x86-64. */

/* i == 3, a local variable: 11 operations */
static const uint8_t local[] = {
	0x26, 0x00, 0x06, 0x22, 0x10, 0x02, 0x22, 0xdc, 0x16,
	0x08, 0x02, 0x19, 0x16, 0x20, 0x22, 0x03, 0x13, 0x27,
};

/* i == -1 && var > 3: 25 operations */
static const uint8_t two[] = {
	0x26, 0x00, 0x06, 0x22, 0x10, 0x02, 0x22, 0xdc, 0x16, 0x08, 0x02, 0x19, 0x16,
	0x20, 0x22, 0xff, 0x16, 0x08, 0x13, 0x20, 0x00, 0x19, 0x21, 0x00, 0x30, 0x24,
	0x00, 0x40, 0x41, 0xe4, 0x19, 0x16, 0x20, 0x22, 0x03, 0x2b, 0x14, 0x20, 0x00,
	0x2b, 0x21, 0x00, 0x30, 0x22, 0x01, 0x21, 0x00, 0x32, 0x22, 0x00, 0x27,
};

/* a[i].b == 3 || p->x < y: 33 operations */
static const uint8_t field[] = {
	0x24, 0x00, 0x40, 0x40, 0x40, 0x26, 0x00, 0x06, 0x22, 0x10, 0x02,
	0x22, 0xdc, 0x16, 0x08, 0x02, 0x19, 0x16, 0x20, 0x22, 0x18, 0x04,
	0x02, 0x2a, 0x40, 0x22, 0x04, 0x02, 0x19, 0x16, 0x20, 0x22, 0x03,
	0x13, 0x20, 0x00, 0x3f, 0x24, 0x00, 0x40, 0x41, 0xc0, 0x1a, 0x18,
	0x16, 0x10, 0x24, 0x00, 0x40, 0x41, 0xe0, 0x19, 0x16, 0x20, 0x14,
	0x20, 0x00, 0x3f, 0x22, 0x00, 0x21, 0x00, 0x41, 0x22, 0x01, 0x27,
};

/* a[i].c == 7 && ((n >> 3) & 0xff) != 9 && p->x < y: 57 operations */
static const uint8_t many[] = {
	0x24, 0x00, 0x40, 0x40, 0x40, 0x26, 0x00, 0x06, 0x22, 0x10, 0x02, 0x22, 0xdc,
	0x16, 0x08, 0x02, 0x19, 0x16, 0x20, 0x22, 0x18, 0x04, 0x02, 0x2a, 0x40, 0x22,
	0x08, 0x02, 0x17, 0x22, 0x07, 0x13, 0x20, 0x00, 0x26, 0x21, 0x00, 0x4c, 0x26,
	0x00, 0x06, 0x22, 0x10, 0x02, 0x22, 0xd0, 0x16, 0x08, 0x02, 0x1a, 0x16, 0x40,
	0x22, 0x03, 0x0a, 0x16, 0x40, 0x23, 0x00, 0xff, 0x0f, 0x22, 0x09, 0x13, 0x0e,
	0x20, 0x00, 0x47, 0x21, 0x00, 0x4c, 0x22, 0x01, 0x21, 0x00, 0x4e, 0x22, 0x00,
	0x20, 0x00, 0x54, 0x21, 0x00, 0x71, 0x24, 0x00, 0x40, 0x41, 0xc0, 0x1a, 0x18,
	0x16, 0x10, 0x24, 0x00, 0x40, 0x41, 0xe0, 0x19, 0x16, 0x20, 0x14, 0x20, 0x00,
	0x6c, 0x21, 0x00, 0x71, 0x22, 0x01, 0x21, 0x00, 0x73, 0x22, 0x00, 0x27,
};

static void expect_cost(const char *name, const uint8_t *bytes, size_t len,
			struct cost most)
{
	struct cost cost = cost_of(bytes, len);

	cr_log_info("%s: %zu operations, %zu instructions, %zu verified", name,
		    cost.operations, cost.insns, cost.verified);
	cr_expect_leq(cost.operations, most.operations, "%s: %zu", name,
		      cost.operations);
	cr_expect_leq(cost.insns, most.insns, "%s: %zu", name, cost.insns);
	/* The verifier may see fewer paths than after the reads alone. How many it
	 * walks more than once depends on where it keeps states, too. */
	cr_expect_leq((ssize_t)cost.verified, (ssize_t)most.verified, "%s: %zd", name,
		      (ssize_t)cost.verified);
}

#define EXPECT_COST(name, ...)                                                         \
	expect_cost(#name, name, sizeof(name), (struct cost){__VA_ARGS__})

Test(code_in_kernel, conditions_of_gdb_are_short)
{
	/* Operations and instructions without the passes of gdbstub/ir/tidy.c. Each
	 * comparison takes an instruction more for a constant that is apart. */
	EXPECT_COST(local, 3, 3, 5);	/* 5, 6 */
	EXPECT_COST(two, 8, 9, 42);	/* 9, 10 */
	EXPECT_COST(field, 13, 12, 40); /* 16, 16 */
	EXPECT_COST(many, 19, 19, 100); /* 22, 22 */
}

/* The passes, one thing at a time: the number of operations that are left. */
static void expect_operations(size_t expected, const uint8_t *bytes, size_t len)
{
	struct ir ir = make_ir(bytes, len);

	cr_expect_eq(ir.count, expected, "%zu operations, expected %zu", ir.count,
		     expected);
	ir_deinit(&ir);
}

#define OPERATIONS(expected, ...)                                                      \
	do {                                                                           \
		static const uint8_t bytes_[] = {__VA_ARGS__, AGENT_END};              \
		expect_operations(expected, bytes_, sizeof(bytes_));                   \
	} while (0)

Test(code, extensions_of_what_is_narrow_enough)
{
	/* The last one is always: if (...) goto true. */
	OPERATIONS(2, REG(0), EXT(32));
	OPERATIONS(2, REG(0), EXT(32), EXT(64), EXT(32), EXT(33));
	OPERATIONS(4, REG(0), EXT(32), CONST8(7), AGENT_LESS_SIGNED, EXT(64), EXT(2),
		   CONST8(5), AGENT_ADD);
	OPERATIONS(1, REG(1), ZERO_EXT(32));
	OPERATIONS(1, REG(1), EXT(33));
	OPERATIONS(2, REG(1), EXT(32), CONST8(3), AGENT_LESS_SIGNED);
	OPERATIONS(1, REG(2), ZERO_EXT(8), EXT(32), ZERO_EXT(16));
	OPERATIONS(2, REG(0), AGENT_REF8, ZERO_EXT(8), EXT(16));
	OPERATIONS(3, REG(0), AGENT_REF16, EXT(16), CONST8(3), AGENT_LESS_SIGNED);
	OPERATIONS(2, REG(0), CONST8(15), AGENT_BIT_AND, ZERO_EXT(4), EXT(32));
	OPERATIONS(2, REG(0), CONST8(60), AGENT_RSH_UNSIGNED, ZERO_EXT(4));
}

Test(code, extensions_of_which_only_low_bits_matter)
{
	OPERATIONS(2, REG(0), EXT(32), EXT(8));
	OPERATIONS(2, REG(0), EXT(32), CONST8(15), AGENT_BIT_AND);
	OPERATIONS(3, REG(0), EXT(32), CONST8(1), AGENT_ADD, EXT(32));
	OPERATIONS(4, REG(0), EXT(32), CONST8(1), AGENT_ADD, EXT(33));
	/* The sign matters. */
	OPERATIONS(3, REG(0), EXT(8), CONST8(3), AGENT_RSH_SIGNED, EXT(8));
	/* if (ext(x) == constant): as far as the constant is one */
	OPERATIONS(2, REG(0), AGENT_REF32, EXT(32), CONST8(7), AGENT_EQUAL);
	OPERATIONS(3, REG(0), AGENT_REF16, EXT(16), CONST8(200), EXT(8),
		   AGENT_LESS_SIGNED);
}

Test(code, constants_sums_and_copies)
{
	OPERATIONS(2, REG(0), CONST8(16), AGENT_ADD, CONST8(36), AGENT_SUB);
	OPERATIONS(1, REG(0), CONST8(36), AGENT_ADD, CONST8(36), AGENT_SUB);
	OPERATIONS(2, CONST8(36), REG(0), AGENT_ADD, CONST8(36), AGENT_ADD);
	/* a ? 0 : 0 */
	OPERATIONS(0, REG(0), IF_GOTO(11), CONST8(0), GOTO(13), CONST8(0));
}

Test(code, what_nobody_needs_goes_but_for_what_may_fail)
{
	/* ~a, *a, a / b, a / 3, a / 0 (a maybe), popped */
	OPERATIONS(1, REG(0), AGENT_BIT_NOT, AGENT_POP, REG(0));
	OPERATIONS(2, REG(0), AGENT_REF8, AGENT_POP, REG(0));
	OPERATIONS(2, REG(0), REG(1), AGENT_DIV_SIGNED, AGENT_POP, REG(0));
	OPERATIONS(1, REG(0), CONST8(3), AGENT_DIV_SIGNED, AGENT_POP, REG(0));
	OPERATIONS(1, REG(0), CONST8(0), AGENT_DIV_SIGNED, AGENT_POP, REG(0));
	OPERATIONS(1, REG(0), CONST8(8), AGENT_BIT_AND, CONST8(0), AGENT_BIT_AND,
		   AGENT_POP, REG(0));
}

Test(code, jumps_go_where_they_end)
{
	/* goto 3; goto 6; goto 9 */
	OPERATIONS(1, GOTO(3), GOTO(6), GOTO(9), REG(0));
	/* if (a) goto end, at the end */
	OPERATIONS(1, REG(0), REG(1), IF_GOTO(9));
	/* A loop that is never entered. */
	OPERATIONS(1, CONST8(1), IF_GOTO(11), REG(0), IF_GOTO(5), REG(0));
}

/* A slot is taken again when its value is not needed any more. */
Test(code, slots_are_few)
{
	static const uint8_t bytes[] = {REG(0),	       AGENT_BIT_NOT, REG(0),
					AGENT_BIT_NOT, AGENT_ADD,     REG(0),
					AGENT_BIT_NOT, AGENT_ADD,     REG(0),
					AGENT_BIT_NOT, AGENT_ADD,     AGENT_END};
	struct text deep = {0};
	struct ir ir = make_ir(bytes, sizeof(bytes));

	cr_expect_eq(ir.slots, 2);
	ir_deinit(&ir);
	/* Registers of the thread take none, however deep the stack is. */
	for (int i = 0; i < AGENT_CELLS_MAX; i++)
		text_put(&deep, REG(0));
	for (int i = 1; i < AGENT_CELLS_MAX; i++)
		text_put(&deep, AGENT_ADD);
	text_put(&deep, AGENT_END);
	ir = make_ir(deep.bytes, deep.len);
	cr_expect_eq(ir.slots, 1);
	cr_expect_eq(ir.count, AGENT_CELLS_MAX);
	ir_deinit(&ir);
}
