/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <string.h>

#include "gdbstub/agent/insn.h"
#include "gdbstub/agent/print.h"
#include "arch/arch.h"
#include "tests/unit/expr.h"

static const struct reg_def *test_registers(unsigned int *count)
{
	static const struct reg_def table[] = {
		{.name = "rax"}, {.name = "rbp"}, {.name = "rip"}};

	*count = sizeof(table) / sizeof(table[0]);
	return table;
}

static const struct arch_ops test_arch = {.name = "test", .registers = test_registers};

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
	struct agent_expr *expr = make_expr(gdb_and, sizeof(gdb_and));
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
	struct agent_expr *a = EXPR(CONST8(1), AGENT_END);
	struct agent_expr *b = EXPR(CONST8(1), AGENT_END);
	struct agent_expr *c = EXPR(CONST8(2), AGENT_END);
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
	struct agent_expr *expr = EXPR(REG(0), IF_GOTO(0), CONST8(1), AGENT_END);

	cr_expect(agent_expr_jumps_back(expr));
	agent_expr_unref(expr);
}

Test(agent_expr, code_that_is_not_reached_has_no_depth)
{
	struct agent_expr *expr = EXPR(CONST8(1), AGENT_END, AGENT_ADD, AGENT_END);
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
	REFUSE("offset 0: const8: the expression runs past its last byte", CONST8(1));
	REFUSE("offset 2: ext: sign extension from 0 bits", CONST8(1), EXT(0),
	       AGENT_END);
}

Test(agent_expr, refuses_wrong_jumps)
{
	REFUSE("offset 0: goto: jumps to 3, beyond the end", GOTO(3));
	REFUSE("offset 0: goto: jumps to 65535, beyond the end", GOTO(0xffff),
	       AGENT_END);
	REFUSE("offset 0: goto: jumps to 4, into an operand", GOTO(4), CONST8(1),
	       AGENT_END);
}

Test(agent_expr, refuses_wrong_stack_use)
{
	REFUSE("offset 0: end: needs a stack depth of 1, it is 0", AGENT_END);
	REFUSE("offset 2: add: needs a stack depth of 2, it is 1", CONST8(1), AGENT_ADD,
	       AGENT_END);
	REFUSE("offset 4: rot: needs a stack depth of 3, it is 2", CONST8(1), CONST8(1),
	       AGENT_ROT, AGENT_END);
	REFUSE("offset 2: pick: needs a stack depth of 2, it is 1", CONST8(1), PICK(1),
	       AGENT_END);
	/* if (1) push; join */
	REFUSE("offset 9: end: reached with 1 and with 2 cells on the stack", CONST8(1),
	       CONST8(1), IF_GOTO(9), CONST8(1), AGENT_END);
}

Test(agent_expr, refuses_overflow)
{
	uint8_t bytes[2 * AGENT_STACK_MAX + 3];

	memset(bytes, AGENT_DUP, sizeof(bytes));
	bytes[0] = AGENT_CONST8;
	bytes[AGENT_STACK_MAX + 1] = AGENT_END;
	agent_expr_unref(make_expr(bytes, AGENT_STACK_MAX + 2));
	bytes[AGENT_STACK_MAX + 1] = AGENT_DUP;
	bytes[AGENT_STACK_MAX + 2] = AGENT_END;
	refuse(bytes, AGENT_STACK_MAX + 3,
	       "offset 1001: dup: more than 1000 cells on the stack");
}

Test(agent_expr, limits_the_length)
{
	uint8_t *bytes = malloc(AGENT_LENGTH_MAX + 1);

	cr_assert_not_null(bytes);
	for (size_t i = 0; i + 1 < AGENT_LENGTH_MAX; i += 2) {
		bytes[i] = AGENT_ZERO_EXT;
		bytes[i + 1] = 64;
	}
	bytes[0] = AGENT_CONST8;
	bytes[AGENT_LENGTH_MAX - 2] = AGENT_BIT_NOT;
	bytes[AGENT_LENGTH_MAX - 1] = AGENT_END;
	agent_expr_unref(make_expr(bytes, AGENT_LENGTH_MAX));
	refuse(bytes, AGENT_LENGTH_MAX + 1,
	       "the expression has 65537 bytes, more than 65536");
	free(bytes);
}

Test(agent_expr, refuses_what_conditions_may_not_do)
{
	REFUSE("offset 0: float: floating point is not supported", AGENT_FLOAT);
	REFUSE("offset 0: l_to_d: floating point is not supported", AGENT_L_TO_D);
	REFUSE("offset 0: printf: prints, which a condition cannot", 0x34, 0, 0, 0);
}

Test(agent_print, gdb_shapes)
{
	expect_print(make_expr(gdb_and, sizeof(gdb_and)),
		     "$rbp == -1 && (s64)[0x404010] > 3");
	/* a || b */
	PRINTS("$rax < 5 || $rip != 7", REG(0), CONST8(5), AGENT_LESS_SIGNED,
	       IF_GOTO(24), REG(2), CONST8(7), AGENT_EQUAL, AGENT_LOG_NOT, IF_GOTO(24),
	       CONST8(0), GOTO(26), CONST8(1), AGENT_END);
}

Test(agent_print, operators)
{
	PRINTS("(s32)$rbp[-4] == 777777", REG(1), CONST8(-4), EXT(8), AGENT_ADD,
	       AGENT_REF32, EXT(32), CONST32(0xbde31), AGENT_EQUAL, AGENT_END);
	PRINTS("(s64)$rbp[-16]", REG(1), CONST8(16), AGENT_ADD, CONST8(-32), EXT(8),
	       AGENT_ADD, AGENT_REF64, EXT(64), AGENT_END);
	PRINTS("$rbp", REG(1), CONST8(16), AGENT_ADD, CONST8(16), AGENT_SUB, AGENT_END);
	PRINTS("(u8)$rax[0]", REG(0), AGENT_REF8, AGENT_END);
	PRINTS("(u16)[$rax * 2 + $rbp]", REG(0), CONST8(2), AGENT_MUL, REG(1),
	       AGENT_ADD, AGENT_REF16, AGENT_END);
	PRINTS("$rax * ($rbp + 1)", REG(0), REG(1), CONST8(1), AGENT_ADD, AGENT_MUL,
	       AGENT_END);
	PRINTS("$rax - ($rbp - 1)", REG(0), REG(1), CONST8(1), AGENT_SUB, AGENT_SUB,
	       AGENT_END);
	PRINTS("(u64)$rax / $rbp", REG(0), REG(1), AGENT_DIV_UNSIGNED, AGENT_END);
	PRINTS("(u64)($rax + 1) >= $rbp", REG(0), CONST8(1), AGENT_ADD, REG(1),
	       AGENT_LESS_UNSIGNED, AGENT_LOG_NOT, AGENT_END);
	PRINTS("~$rax & !$r9", REG(0), AGENT_BIT_NOT, REG(9), AGENT_LOG_NOT,
	       AGENT_BIT_AND, AGENT_END);
	PRINTS("(s32)($rax - 5)", REG(0), CONST8(5), AGENT_SUB, EXT(32), AGENT_END);
	PRINTS("0x123456789ab", CONST64(0x123456789ab), AGENT_END);
	PRINTS("$rax + $rax", REG(0), AGENT_DUP, AGENT_ADD, AGENT_END);
	/* reg 0; log_not; if_goto C; const8 1; goto E; C: const8 2; E: end */
	PRINTS("$rax ? 1 : 2", REG(0), AGENT_LOG_NOT, IF_GOTO(12), CONST8(1), GOTO(14),
	       CONST8(2), AGENT_END);
}

Test(agent_print, variables)
{
	PRINTS("$tid == 3", REG(AGENT_REG_THREAD), CONST8(3), AGENT_EQUAL, AGENT_END);
	PRINTS("$tsv7 > 3", GETV(7), CONST8(3), AGENT_SWAP, AGENT_LESS_SIGNED,
	       AGENT_END);
	/* ($n = $n + 1) == 5, ($n = $n + 1) > 5 */
	PRINTS("($tsv1 = $tsv1 + 1) == 5", GETV(1), CONST8(1), AGENT_ADD, EXT(64),
	       SETV(1), CONST8(5), AGENT_EQUAL, AGENT_END);
	PRINTS("($tsv1 = $tsv1 + 1) > 5", GETV(1), CONST8(1), AGENT_ADD, SETV(1),
	       CONST8(5), AGENT_SWAP, AGENT_LESS_SIGNED, AGENT_END);
	PRINTS("$tsv1 = $tsv2 = $rax", REG(0), SETV(2), SETV(1), AGENT_END);
	PRINTS("$tsv1 - ($tsv1 = 4)", GETV(1), CONST8(4), SETV(1), AGENT_SUB,
	       AGENT_END);
	PRINTS("(s32)($tsv1 = $rax)", REG(0), SETV(1), EXT(32), AGENT_END);
	/* $armed && ($n = 1) */
	PRINTS("$tsv1 && ($tsv2 = 1)", GETV(1), IF_GOTO(9), GOTO(25), CONST8(1),
	       SETV(2), IF_GOTO(20), GOTO(25), CONST8(1), GOTO(27), CONST8(0),
	       AGENT_END);
}

/* An assignment would be lost, written twice, or seem to come before another read. */
Test(agent_print, assignments_out_of_their_turn_are_a_list)
{
	PRINTS("const8 1; setv 8; pop; getv 7; end", CONST8(1), SETV(8), AGENT_POP,
	       GETV(7), AGENT_END);
	PRINTS("const8 1; setv 8; dup; add; end", CONST8(1), SETV(8), AGENT_DUP,
	       AGENT_ADD, AGENT_END);
	PRINTS("getv 8; const8 1; setv 8; swap; sub; end", GETV(8), CONST8(1), SETV(8),
	       AGENT_SWAP, AGENT_SUB, AGENT_END);
}

/* What gdb's extension makes of conditions about local variables; the rest is at 22. */
#define SCOPE(size)                                                                    \
	REG(2), CONST64(0x401136), AGENT_SUB, CONST8(size), AGENT_LESS_UNSIGNED,       \
		IF_GOTO(22), CONST8(1), AGENT_END
#define LOCAL REG(1), CONST8(-4), EXT(8), AGENT_ADD

Test(agent_print, conditions_about_one_frame)
{
	PRINTS("(s32)$rbp[-4] == 5, where $rip is 0x401136 to 0x40113f; elsewhere gdb "
	       "decides",
	       SCOPE(10), LOCAL, AGENT_REF32, EXT(32), CONST8(5), AGENT_EQUAL,
	       AGENT_END);
	/* &local != 0x7ffc || $rax */
	PRINTS("$rax, where $rip is 0x401136 to 0x40113f and $rbp is 0x8000; elsewhere "
	       "gdb decides",
	       SCOPE(10), LOCAL, CONST64(0x7ffc), AGENT_EQUAL, AGENT_LOG_NOT,
	       IF_GOTO(55), REG(0), IF_GOTO(55), CONST8(0), GOTO(57), CONST8(1),
	       AGENT_END);
	/* That of no frame. */
	PRINTS("(u64)$rax[0] != 7 || $rax, where $rip is 0x401136 to 0x401136; "
	       "elsewhere gdb decides",
	       SCOPE(1), REG(0), AGENT_REF64, CONST64(7), AGENT_EQUAL, AGENT_LOG_NOT,
	       IF_GOTO(51), REG(0), IF_GOTO(51), CONST8(0), GOTO(53), CONST8(1),
	       AGENT_END);
}

Test(agent_print, no_scope_in_gdbs_own_conditions)
{
	PRINTS("(u64)($rip - 4198710) < 10", REG(2), CONST32(0x401136), AGENT_SUB,
	       CONST8(10), AGENT_LESS_UNSIGNED, AGENT_END);
	/* Nobody knows the value of an empty stretch. */
	PRINTS("reg $rip; const64 0x401136; sub; const8 0; less_unsigned; if_goto 22; "
	       "const8 1; end; 22: const8 0; end",
	       SCOPE(0), CONST8(0), AGENT_END);
}

Test(agent_print, other_flow_is_a_list)
{
	PRINTS("0: reg $rax; if_goto 0; const8 1; end", REG(0), IF_GOTO(0), CONST8(1),
	       AGENT_END);
}

Test(agent_print, exponential_text_is_a_list)
{
	struct text text = {0};
	_cleanup_buffer_ struct buffer out = {0};
	struct agent_expr *expr;

	text_put(&text, REG(0));
	for (int i = 0; i < 40; i++)
		text_put(&text, AGENT_DUP, AGENT_ADD);
	expr = text_expr(&text);
	agent_expr_print(expr, NULL, &out);
	cr_expect_eq(strncmp(buffer_string(&out), "reg $r0; dup; add; dup", 22), 0);
	agent_expr_unref(expr);
}

Test(agent_print, disassembly)
{
	struct agent_expr *expr = EXPR(REG(1), CONST8(7), AGENT_EQUAL, CONST32(0x10000),
				       AGENT_BIT_AND, AGENT_END);
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
