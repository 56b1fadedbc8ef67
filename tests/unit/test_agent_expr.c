/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <string.h>

#include "agent/expr.h"
#include "agent/insn.h"
#include "agent/print.h"
#include "arch/arch.h"

static const struct reg_def *test_registers(unsigned int *count)
{
	static const struct reg_def table[] = {
		{.name = "rax"}, {.name = "rbp"}, {.name = "rip"}};

	*count = sizeof(table) / sizeof(table[0]);
	return table;
}

static const struct arch_ops test_arch = {.name = "test", .registers = test_registers};

#define EXPR(...) make((const uint8_t[]){__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__}))

static struct agent_expr *make(const uint8_t *bytes, size_t len)
{
	struct agent_expr *expr = NULL;
	struct error *error = agent_expr_create(bytes, len, &expr);

	cr_assert_null(error, "%s", error ? error_text(error) : "");
	return expr;
}

/* Expects an error with exactly this text. */
static void refuse(const uint8_t *bytes, size_t len, const char *text)
{
	struct agent_expr *expr = NULL;
	_cleanup_error_ struct error *error = agent_expr_create(bytes, len, &expr);

	cr_assert_not_null(error, "accepted, should be: %s", text);
	cr_assert_null(expr);
	cr_expect_str_eq(error_text(error), text);
}

#define REFUSE(text, ...)                                                              \
	refuse((const uint8_t[]){__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__}), text)

static void expect_print(struct agent_expr *expr, const char *text)
{
	_cleanup_buffer_ struct buffer out = {0};

	agent_expr_print(expr, &test_arch, &out);
	cr_expect_str_eq(buffer_string(&out), text);
	agent_expr_unref(expr);
}

#define PRINTS(text, ...) expect_print(EXPR(__VA_ARGS__), text)

/* gdb 13: i == -1 && var > 3, with i in register 1 */
static const uint8_t gdb_and[] = {
	0x26, 0,    1,	  0x16, 64,   0x22, 255,  0x16, 8,    0x13, 0x20, 0,
	16,   0x21, 0,	  43,	0x25, 0,    0,	  0,	0,    0,    0x40, 0x40,
	0x10, 0x1a, 0x16, 64,	0x22, 3,    0x2b, 0x14, 0x20, 0,    38,	  0x21,
	0,    43,   0x22, 1,	0x21, 0,    45,	  0x22, 0,    0x27,
};

Test(agent_expr, decodes)
{
	struct agent_expr *expr = make(gdb_and, sizeof(gdb_and));
	size_t count, len;
	const struct agent_insn *insns = agent_expr_insns(expr, &count);

	cr_expect_eq(count, 19);
	cr_expect_eq(insns[0].code, AGENT_REG);
	cr_expect_eq(insns[0].operand, 1);
	cr_expect_eq(insns[7].offset, 16);
	cr_expect(insns[7].leader);
	cr_expect_eq(insns[7].operand, 0x404010);
	cr_expect_eq(insns[5].target, 7);
	cr_expect_eq(insns[18].depth, 1);
	cr_expect_eq(agent_expr_max_depth(expr), 2);
	cr_expect_not(agent_expr_jumps_back(expr));
	cr_expect_arr_eq(agent_expr_bytecode(expr, &len), gdb_and, sizeof(gdb_and));
	cr_expect_eq(len, sizeof(gdb_and));
	agent_expr_unref(expr);
}

Test(agent_expr, reference_count_and_equality)
{
	struct agent_expr *a = EXPR(0x22, 1, 0x27);
	struct agent_expr *b = EXPR(0x22, 1, 0x27);
	struct agent_expr *c = EXPR(0x22, 2, 0x27);
	struct agent_expr *again = agent_expr_ref(a);

	cr_expect(agent_expr_equal(a, b));
	cr_expect_not(agent_expr_equal(a, c));
	agent_expr_unref(a);
	cr_expect(agent_expr_equal(again, b));
	agent_expr_unref(again);
	agent_expr_unref(b);
	agent_expr_unref(c);
	agent_expr_unref(NULL);
}

Test(agent_expr, backward_jumps_are_valid)
{
	/* L: reg 0; if_goto L; const8 1; end */
	struct agent_expr *expr = EXPR(0x26, 0, 0, 0x20, 0, 0, 0x22, 1, 0x27);

	cr_expect(agent_expr_jumps_back(expr));
	agent_expr_unref(expr);
}

Test(agent_expr, code_that_is_not_reached_has_no_depth)
{
	struct agent_expr *expr = EXPR(0x22, 1, 0x27, 0x02, 0x27);
	size_t count;
	const struct agent_insn *insns = agent_expr_insns(expr, &count);

	cr_expect_eq(insns[2].depth, AGENT_UNREACHED);
	agent_expr_unref(expr);
}

Test(agent_expr, refuses_broken_bytecode)
{
	refuse(NULL, 0, "the expression is empty");
	REFUSE("offset 0: unknown operation 0x00", 0);
	REFUSE("offset 2: unknown operation 0x31", 0x22, 1, 0x31);
	REFUSE("offset 0: unknown operation 0xff", 0xff);
	REFUSE("offset 0: const32: its operand of 4 bytes is cut off", 0x24, 0, 0, 1);
	REFUSE("offset 0: reg: its operand of 2 bytes is cut off", 0x26);
	REFUSE("offset 0: const8: the expression runs past its last byte", 0x22, 1);
	REFUSE("offset 2: ext: sign extension from 0 bits", 0x22, 1, 0x16, 0, 0x27);
}

Test(agent_expr, refuses_wrong_jumps)
{
	REFUSE("offset 0: goto: jumps to 3, behind the end", 0x21, 0, 3);
	REFUSE("offset 0: goto: jumps to 65535, behind the end", 0x21, 255, 255, 0x27);
	REFUSE("offset 0: goto: jumps to 4, into an operand", 0x21, 0, 4, 0x22, 1,
	       0x27);
}

Test(agent_expr, refuses_wrong_stack_use)
{
	REFUSE("offset 0: end: needs a stack depth of 1, it is 0", 0x27);
	REFUSE("offset 2: add: needs a stack depth of 2, it is 1", 0x22, 1, 0x02, 0x27);
	REFUSE("offset 4: rot: needs a stack depth of 3, it is 2", 0x22, 1, 0x22, 1,
	       0x33, 0x27);
	REFUSE("offset 2: pick: needs a stack depth of 2, it is 1", 0x22, 1, 0x32, 1,
	       0x27);
	/* if (1) push; join */
	REFUSE("offset 9: end: reached with 1 and with 2 cells on the stack", 0x22, 1,
	       0x22, 1, 0x20, 0, 9, 0x22, 1, 0x27);
}

Test(agent_expr, refuses_overflow)
{
	uint8_t bytes[2 * AGENT_STACK_MAX + 3];

	memset(bytes, 0x28, sizeof(bytes)); /* dup */
	bytes[0] = 0x22;
	bytes[AGENT_STACK_MAX + 1] = 0x27;
	agent_expr_unref(make(bytes, AGENT_STACK_MAX + 2));
	bytes[AGENT_STACK_MAX + 1] = 0x28;
	bytes[AGENT_STACK_MAX + 2] = 0x27;
	refuse(bytes, AGENT_STACK_MAX + 3,
	       "offset 1001: dup: more than 1000 cells on the stack");
}

Test(agent_expr, limits_the_length)
{
	uint8_t *bytes = malloc(AGENT_LENGTH_MAX + 1);

	cr_assert_not_null(bytes);
	for (size_t i = 0; i + 1 < AGENT_LENGTH_MAX; i += 2) {
		bytes[i] = 0x2a; /* zero_ext 64 */
		bytes[i + 1] = 64;
	}
	bytes[0] = 0x22;
	bytes[AGENT_LENGTH_MAX - 2] = 0x12;
	bytes[AGENT_LENGTH_MAX - 1] = 0x27;
	agent_expr_unref(make(bytes, AGENT_LENGTH_MAX));
	refuse(bytes, AGENT_LENGTH_MAX + 1,
	       "the expression has 65537 bytes, more than 65536");
	free(bytes);
}

Test(agent_expr, refuses_what_conditions_may_not_do)
{
	REFUSE("offset 0: float: floating point is not supported", 0x01);
	REFUSE("offset 0: l_to_d: floating point is not supported", 0x1e);
	REFUSE("offset 0: printf: prints, which a condition cannot", 0x34, 0, 0, 0);
}

Test(agent_print, gdb_shapes)
{
	expect_print(make(gdb_and, sizeof(gdb_and)),
		     "$rbp == -1 && (s64)[0x404010] > 3");
	/* a || b */
	PRINTS("$rax < 5 || $rip != 7", 0x26, 0, 0, 0x22, 5, 0x14, 0x20, 0, 24, 0x26, 0,
	       2, 0x22, 7, 0x13, 0x0e, 0x20, 0, 24, 0x22, 0, 0x21, 0, 26, 0x22, 1,
	       0x27);
}

Test(agent_print, operators)
{
	PRINTS("(s32)$rbp[-4] == 777777", 0x26, 0, 1, 0x22, 0xfc, 0x16, 8, 0x02, 0x19,
	       0x16, 32, 0x24, 0, 0x0b, 0xde, 0x31, 0x13, 0x27);
	PRINTS("(s64)$rbp[-16]", 0x26, 0, 1, 0x22, 16, 0x02, 0x22, 0xe0, 0x16, 8, 0x02,
	       0x1a, 0x16, 64, 0x27);
	PRINTS("$rbp", 0x26, 0, 1, 0x22, 16, 0x02, 0x22, 16, 0x03, 0x27);
	PRINTS("(u8)$rax[0]", 0x26, 0, 0, 0x17, 0x27);
	PRINTS("(u16)[$rax * 2 + $rbp]", 0x26, 0, 0, 0x22, 2, 0x04, 0x26, 0, 1, 0x02,
	       0x18, 0x27);
	PRINTS("$rax * ($rbp + 1)", 0x26, 0, 0, 0x26, 0, 1, 0x22, 1, 0x02, 0x04, 0x27);
	PRINTS("$rax - ($rbp - 1)", 0x26, 0, 0, 0x26, 0, 1, 0x22, 1, 0x03, 0x03, 0x27);
	PRINTS("(u64)$rax / $rbp", 0x26, 0, 0, 0x26, 0, 1, 0x06, 0x27);
	PRINTS("(u64)($rax + 1) >= $rbp", 0x26, 0, 0, 0x22, 1, 0x02, 0x26, 0, 1, 0x15,
	       0x0e, 0x27);
	PRINTS("~$rax & !$r9", 0x26, 0, 0, 0x12, 0x26, 0, 9, 0x0e, 0x0f, 0x27);
	PRINTS("(s32)($rax - 5)", 0x26, 0, 0, 0x22, 5, 0x03, 0x16, 32, 0x27);
	PRINTS("0x123456789ab", 0x25, 0, 0, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0x27);
	PRINTS("$rax + $rax", 0x26, 0, 0, 0x28, 0x02, 0x27);
	/* reg 0; log_not; if_goto C; const8 1; goto E; C: const8 2; E: end */
	PRINTS("$rax ? 1 : 2", 0x26, 0, 0, 0x0e, 0x20, 0, 12, 0x22, 1, 0x21, 0, 14,
	       0x22, 2, 0x27);
}

#define GETV(n) 0x2c, 0, (n)
#define SETV(n) 0x2d, 0, (n)

Test(agent_print, variables)
{
	PRINTS("$tsv7 > 3", GETV(7), 0x22, 3, 0x2b, 0x14, 0x27);
	/* ($n = $n + 1) == 5, ($n = $n + 1) > 5 */
	PRINTS("($tsv1 = $tsv1 + 1) == 5", GETV(1), 0x22, 1, 0x02, 0x16, 64, SETV(1),
	       0x22, 5, 0x13, 0x27);
	PRINTS("($tsv1 = $tsv1 + 1) > 5", GETV(1), 0x22, 1, 0x02, SETV(1), 0x22, 5,
	       0x2b, 0x14, 0x27);
	PRINTS("$tsv1 = $tsv2 = $rax", 0x26, 0, 0, SETV(2), SETV(1), 0x27);
	PRINTS("$tsv1 - ($tsv1 = 4)", GETV(1), 0x22, 4, SETV(1), 0x03, 0x27);
	PRINTS("(s32)($tsv1 = $rax)", 0x26, 0, 0, SETV(1), 0x16, 32, 0x27);
	/* $armed && ($n = 1) */
	PRINTS("$tsv1 && ($tsv2 = 1)", GETV(1), 0x20, 0, 9, 0x21, 0, 25, 0x22, 1,
	       SETV(2), 0x20, 0, 20, 0x21, 0, 25, 0x22, 1, 0x21, 0, 27, 0x22, 0, 0x27);
}

/* An assignment would be lost, written twice, or seem to come before another read. */
Test(agent_print, assignments_out_of_their_turn_are_a_list)
{
	PRINTS("const8 1; setv 8; pop; getv 7; end", 0x22, 1, SETV(8), 0x29, GETV(7),
	       0x27);
	PRINTS("const8 1; setv 8; dup; add; end", 0x22, 1, SETV(8), 0x28, 0x02, 0x27);
	PRINTS("getv 8; const8 1; setv 8; swap; sub; end", GETV(8), 0x22, 1, SETV(8),
	       0x2b, 0x03, 0x27);
}

Test(agent_print, other_flow_is_a_list)
{
	PRINTS("0: reg $rax; if_goto 0; const8 1; end", 0x26, 0, 0, 0x20, 0, 0, 0x22, 1,
	       0x27);
}

Test(agent_print, exponential_text_is_a_list)
{
	uint8_t bytes[3 + 2 * 40 + 1] = {0x26, 0, 0};
	_cleanup_buffer_ struct buffer out = {0};
	struct agent_expr *expr;

	for (size_t i = 3; i < sizeof(bytes) - 1; i += 2) {
		bytes[i] = 0x28;     /* dup */
		bytes[i + 1] = 0x02; /* add */
	}
	bytes[sizeof(bytes) - 1] = 0x27;
	expr = make(bytes, sizeof(bytes));
	agent_expr_print(expr, NULL, &out);
	cr_expect_eq(strncmp(buffer_string(&out), "reg $r0; dup; add; dup", 22), 0);
	agent_expr_unref(expr);
}

Test(agent_print, disassembly)
{
	struct agent_expr *expr =
		EXPR(0x26, 0, 1, 0x22, 7, 0x13, 0x24, 0, 1, 0, 0, 0x0f, 0x27);
	_cleanup_buffer_ struct buffer out = {0};

	agent_expr_disassemble(expr, &test_arch, &out);
	cr_expect_str_eq(buffer_string(&out), "    0  reg $rbp\n"
					      "    3  const8 7\n"
					      "    5  equal\n"
					      "    6  const32 0x10000\n"
					      "   11  bit_and\n"
					      "   12  end\n");
	agent_expr_unref(expr);
}
