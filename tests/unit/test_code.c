/* SPDX-License-Identifier: BSD-2-Clause */
/* How much code conditions become, and how far the verifier walks through it. */
#include <bpf/bpf.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "agent/insn.h"
#include "agent/ir.h"
#include "bpf/program.h"
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

	cr_assert_null(ir_create(expr, &target, &ir));
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
	uint8_t bytes[128] = {0x27};
	size_t len = 0;

	cr_assert_leq(5 * count, sizeof(bytes));
	for (unsigned int i = 0; i < count; i++) {
		memcpy(bytes + len, (uint8_t[]){0x26, 0, 6, 0x17, 0x29}, 5);
		len += 5;
	}
	bytes[len - 1] = 0x27;
	return cost_in_kernel(bytes, len);
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
	/* The verifier may see fewer paths than behind the reads alone. */
	cr_expect_leq((ssize_t)cost.verified, (ssize_t)most.verified, "%s: %zd", name,
		      (ssize_t)cost.verified);
}

#define EXPECT_COST(name, ...)                                                         \
	expect_cost(#name, name, sizeof(name), (struct cost){__VA_ARGS__})

Test(code_in_kernel, conditions_of_gdb_are_short)
{
	/* Without the passes of agent/tidy.c: */
	EXPECT_COST(local, 3, 2, 4);	/* 5, 5, 5 */
	EXPECT_COST(two, 8, 7, 15);	/* 9, 8, 16 */
	EXPECT_COST(field, 13, 12, 40); /* 16, 16 */
	EXPECT_COST(many, 19, 17, 16);	/* 22, 20 */
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
		static const uint8_t bytes_[] = {__VA_ARGS__, 0x27};                   \
		expect_operations(expected, bytes_, sizeof(bytes_));                   \
	} while (0)

#define REG(n)	    0x26, 0, (n)
#define C8(n)	    0x22, (n)
#define EXT(n)	    0x16, (n)
#define ZERO_EXT(n) 0x2a, (n)

Test(code, extensions_of_what_is_narrow_enough)
{
	/* The last one is always: if (...) goto true. */
	OPERATIONS(2, REG(0), EXT(32));
	OPERATIONS(2, REG(0), EXT(32), EXT(64), EXT(32), EXT(33));
	OPERATIONS(4, REG(0), EXT(32), C8(7), 0x14, EXT(64), EXT(2), C8(5), 0x02);
	OPERATIONS(1, REG(1), ZERO_EXT(32));
	OPERATIONS(1, REG(1), EXT(33));
	OPERATIONS(2, REG(1), EXT(32), C8(3), 0x14);
	OPERATIONS(1, REG(2), ZERO_EXT(8), EXT(32), ZERO_EXT(16));
	OPERATIONS(2, REG(0), 0x17, ZERO_EXT(8), EXT(16));
	OPERATIONS(3, REG(0), 0x18, EXT(16), C8(3), 0x14);
	OPERATIONS(2, REG(0), C8(15), 0x0f, ZERO_EXT(4), EXT(32));
	OPERATIONS(2, REG(0), C8(60), 0x0b, ZERO_EXT(4));
}

Test(code, extensions_of_which_only_low_bits_matter)
{
	OPERATIONS(2, REG(0), EXT(32), EXT(8));
	OPERATIONS(2, REG(0), EXT(32), C8(15), 0x0f);
	OPERATIONS(3, REG(0), EXT(32), C8(1), 0x02, EXT(32));
	OPERATIONS(4, REG(0), EXT(32), C8(1), 0x02, EXT(33));
	OPERATIONS(3, REG(0), EXT(8), C8(3), 0x0a, EXT(8)); /* the sign matters */
	/* if (ext(x) == constant): as far as the constant is one */
	OPERATIONS(2, REG(0), 0x19, EXT(32), C8(7), 0x13);
	OPERATIONS(3, REG(0), 0x18, EXT(16), C8(200), EXT(8), 0x14);
}

Test(code, constants_sums_and_copies)
{
	OPERATIONS(2, REG(0), C8(16), 0x02, C8(36), 0x03);
	OPERATIONS(1, REG(0), C8(36), 0x02, C8(36), 0x03);
	OPERATIONS(2, C8(36), REG(0), 0x02, C8(36), 0x02);
	/* a ? 0 : 0 */
	OPERATIONS(0, REG(0), 0x20, 0, 11, C8(0), 0x21, 0, 13, C8(0));
}

Test(code, what_nobody_needs_goes_but_for_what_may_fail)
{
	OPERATIONS(1, REG(0), 0x12, 0x29, REG(0));	   /* ~a, popped */
	OPERATIONS(2, REG(0), 0x17, 0x29, REG(0));	   /* *a, popped */
	OPERATIONS(2, REG(0), REG(1), 0x05, 0x29, REG(0)); /* a / b, popped */
	OPERATIONS(1, REG(0), C8(3), 0x05, 0x29, REG(0));  /* a / 3, popped */
	OPERATIONS(1, REG(0), C8(0), 0x05, 0x29, REG(0));  /* a / 0: maybe */
	OPERATIONS(1, REG(0), C8(8), 0x0f, C8(0), 0x0f, 0x29, REG(0));
}

Test(code, jumps_go_where_they_end)
{
	/* goto 3; goto 6; goto 9 */
	OPERATIONS(1, 0x21, 0, 3, 0x21, 0, 6, 0x21, 0, 9, REG(0));
	/* if (a) goto end, at the end */
	OPERATIONS(1, REG(0), REG(1), 0x20, 0, 9);
	/* A loop that is never entered. */
	OPERATIONS(1, C8(1), 0x20, 0, 11, REG(0), 0x20, 0, 5, REG(0));
}

/* A slot is taken again when its value is not needed any more. */
Test(code, slots_are_few)
{
	static const uint8_t bytes[] = {REG(0), 0x12, REG(0), 0x12, 0x02, REG(0),
					0x12,	0x02, REG(0), 0x12, 0x02, 0x27};
	uint8_t deep[3 * AGENT_CELLS_MAX + AGENT_CELLS_MAX];
	struct ir ir = make_ir(bytes, sizeof(bytes));
	size_t len = 0;

	cr_expect_eq(ir.slots, 2);
	ir_deinit(&ir);
	/* Registers of the thread take none, however deep the stack is. */
	for (int i = 0; i < AGENT_CELLS_MAX; i++) {
		memcpy(deep + len, (uint8_t[]){REG(0)}, 3);
		len += 3;
	}
	for (int i = 1; i < AGENT_CELLS_MAX; i++)
		deep[len++] = 0x02;
	deep[len++] = 0x27;
	ir = make_ir(deep, len);
	cr_expect_eq(ir.slots, 1);
	cr_expect_eq(ir.count, AGENT_CELLS_MAX);
	ir_deinit(&ir);
}
