/* SPDX-License-Identifier: BSD-2-Clause */
/* Operations are numbers here, as gdb sends them: what checks gdbstub/agent/opcode.h.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "gdbstub/agent/expr.h"
#include "gdbstub/agent/insn.h"
#include "gdbstub/agent/interp.h"

/* Memory at 0x1000, two registers. */
static const uint8_t memory[] = {0x80, 0x91, 0xa2, 0xb3, 0xc4, 0xd5, 0xe6, 0xf7, 0x08};
enum { MEMORY_ADDR = 0x1000 };

static int read_memory(void *data, uint64_t addr, void *value, size_t len)
{
	(void)data;
	if (addr < MEMORY_ADDR || addr + len > MEMORY_ADDR + sizeof(memory))
		return -EFAULT;
	memcpy(value, memory + (addr - MEMORY_ADDR), len);
	return 0;
}

static int read_register(void *data, unsigned int number, uint64_t *value)
{
	static const uint64_t registers[] = {0x8000000000000001, 42};

	(void)data;
	if (number >= sizeof(registers) / sizeof(registers[0]))
		return -ENODATA;
	*value = registers[number];
	return 0;
}

/* Variables 0 and 1. */
static uint64_t variables[2];

static int read_variable(void *data, unsigned int number, uint64_t *value)
{
	(void)data;
	if (number >= sizeof(variables) / sizeof(variables[0]))
		return -ENOENT;
	*value = variables[number];
	return 0;
}

static int write_variable(void *data, unsigned int number, uint64_t value)
{
	uint64_t before;

	if (read_variable(data, number, &before) < 0)
		return -ENOENT;
	variables[number] = value;
	return 0;
}

static struct error *evaluate(const uint8_t *bytes, size_t len, uint64_t *result)
{
	static const struct agent_context context = {.read_memory = read_memory,
						     .read_register = read_register,
						     .read_variable = read_variable,
						     .write_variable = write_variable};
	struct agent_expr *expr = NULL;
	struct error *error = agent_expr_create(bytes, len, &expr);

	cr_assert_null(error, "%s", error ? error_text(error) : "");
	error = agent_expr_evaluate(expr, &context, result);
	agent_expr_unref(expr);
	return error;
}

#define EVALUATES(expected, ...)                                                       \
	do {                                                                           \
		const uint8_t bytes_[] = {__VA_ARGS__, 0x27};                          \
		uint64_t result_ = 0;                                                  \
		_cleanup_error_ struct error *error_ =                                 \
			evaluate(bytes_, sizeof(bytes_), &result_);                    \
		cr_expect_null(error_, "%s", error_ ? error_text(error_) : "");        \
		cr_expect_eq(result_, (uint64_t)(expected), "0x%llx, expected 0x%llx", \
			     (unsigned long long)result_,                              \
			     (unsigned long long)(expected));                          \
	} while (0)

#define FAILS(text, ...)                                                               \
	do {                                                                           \
		const uint8_t bytes_[] = {__VA_ARGS__, 0x27};                          \
		uint64_t result_ = 0;                                                  \
		_cleanup_error_ struct error *error_ =                                 \
			evaluate(bytes_, sizeof(bytes_), &result_);                    \
		cr_assert_not_null(error_);                                            \
		cr_expect_str_eq(error_text(error_), text);                            \
	} while (0)

#define C8(n)	 0x22, (n)
#define MINUS(n) 0x22, (uint8_t) - (n), 0x16, 8
#define MIN	 0x25, 0x80, 0, 0, 0, 0, 0, 0, 0

Test(interp, constants_and_registers)
{
	EVALUATES(0xff, C8(0xff));
	EVALUATES(0xfffe, 0x23, 0xff, 0xfe);
	EVALUATES(0xfffefdfc, 0x24, 0xff, 0xfe, 0xfd, 0xfc);
	EVALUATES(0xfffefdfcfbfaf9f8, 0x25, 0xff, 0xfe, 0xfd, 0xfc, 0xfb, 0xfa, 0xf9,
		  0xf8);
	EVALUATES(0x8000000000000001, 0x26, 0, 0);
	EVALUATES(42, 0x26, 0, 1);
	FAILS("offset 0: reg: cannot read register 2: No data available", 0x26, 0, 2);
}

Test(interp, trace_state_variables)
{
	variables[0] = 41;
	variables[1] = 0;
	/* $0 = $0 + 1, whose value is still there; $1 */
	EVALUATES(42, 0x2c, 0, 0, C8(1), 0x02, 0x2d, 0, 0, 0x2c, 0, 1, 0x02);
	cr_expect_eq(variables[0], 42);
	/* What was set is what is read. */
	EVALUATES(7, C8(7), 0x2d, 0, 1, 0x29, 0x2c, 0, 1);
	cr_expect_eq(variables[1], 7);
	FAILS("offset 0: getv: trace state variable 2: No such file or directory", 0x2c,
	      0, 2);
	FAILS("offset 2: setv: trace state variable 256: No such file or directory",
	      C8(1), 0x2d, 1, 0);
}

Test(interp, trace_state_variables_that_nobody_keeps)
{
	static const uint8_t bytes[] = {0x2c, 0, 1, 0x27};
	static const struct agent_context context = {0};
	_cleanup_error_ struct error *error = NULL;
	struct agent_expr *expr;
	uint64_t result;

	cr_assert_null(agent_expr_create(bytes, sizeof(bytes), &expr));
	error = agent_expr_evaluate(expr, &context, &result);
	cr_assert_not_null(error);
	cr_expect_str_eq(error_text(error),
			 "offset 0: getv: there are no trace state variables here");
	agent_expr_unref(expr);
}

Test(interp, arithmetic)
{
	EVALUATES(7, C8(5), C8(2), 0x02);
	EVALUATES(3, C8(5), C8(2), 0x03);
	EVALUATES(-3, C8(2), C8(5), 0x03);
	EVALUATES(10, C8(5), C8(2), 0x04);
	EVALUATES(-10, MINUS(5), C8(2), 0x04);
	EVALUATES(0x0c, C8(0x3c), C8(0x0f), 0x0f);
	EVALUATES(0x3f, C8(0x3c), C8(0x0f), 0x10);
	EVALUATES(0x33, C8(0x3c), C8(0x0f), 0x11);
	EVALUATES(-6, C8(5), 0x12);
	EVALUATES(0, C8(5), 0x0e);
	EVALUATES(1, C8(0), 0x0e);
}

Test(interp, division)
{
	EVALUATES(-2, MINUS(5), C8(2), 0x05);
	EVALUATES(-2, C8(5), MINUS(2), 0x05);
	EVALUATES(2, MINUS(5), MINUS(2), 0x05);
	EVALUATES(0x7ffffffffffffffd, MINUS(5), C8(2), 0x06);
	EVALUATES(-1, MINUS(5), C8(2), 0x07);
	EVALUATES(1, C8(5), MINUS(2), 0x07);
	EVALUATES(1, MINUS(5), C8(2), 0x08);
	EVALUATES(0x8000000000000000, MIN, MINUS(1), 0x05);
	EVALUATES(0, MIN, MINUS(1), 0x07);
	FAILS("offset 4: div_signed: division by zero", C8(1), C8(0), 0x05);
	FAILS("offset 4: div_unsigned: division by zero", C8(1), C8(0), 0x06);
	FAILS("offset 4: rem_signed: division by zero", C8(1), C8(0), 0x07);
	FAILS("offset 4: rem_unsigned: division by zero", C8(1), C8(0), 0x08);
}

Test(interp, shifts)
{
	EVALUATES(20, C8(5), C8(2), 0x09);
	EVALUATES(-2, MINUS(5), C8(2), 0x0a);
	EVALUATES(0x3ffffffffffffffe, MINUS(5), C8(2), 0x0b);
	EVALUATES(1ULL << 40, C8(1), C8(40), 0x09);
	EVALUATES(-1, MIN, C8(63), 0x0a);
	EVALUATES(1, MIN, C8(63), 0x0b);
	/* counts are taken modulo 64 */
	EVALUATES(5, C8(5), C8(64), 0x09);
	EVALUATES(10, C8(5), C8(65), 0x09);
	EVALUATES(-3, MINUS(5), C8(129), 0x0a);
	EVALUATES(1, MINUS(5), MINUS(1), 0x0b);
}

Test(interp, comparisons)
{
	EVALUATES(1, C8(5), C8(5), 0x13);
	EVALUATES(0, C8(5), C8(6), 0x13);
	EVALUATES(1, MINUS(1), C8(0), 0x14);
	EVALUATES(0, C8(0), MINUS(1), 0x14);
	EVALUATES(0, C8(4), C8(4), 0x14);
	EVALUATES(0, MINUS(1), C8(0), 0x15);
	EVALUATES(1, C8(0), MINUS(1), 0x15);
	EVALUATES(0, C8(4), C8(4), 0x15);
}

Test(interp, extension)
{
	EVALUATES(-128, C8(0x80), 0x16, 8);
	EVALUATES(0x7f, 0x23, 0xff, 0x7f, 0x16, 8);
	EVALUATES(-1, C8(1), 0x16, 1);
	EVALUATES(-0x80000000LL, 0x24, 0x80, 0, 0, 0, 0x16, 32);
	EVALUATES(0x8000000000000001, 0x26, 0, 0, 0x16, 64);
	EVALUATES(0x8000000000000001, 0x26, 0, 0, 0x16, 255);
	EVALUATES(0x7f, 0x23, 0xff, 0x7f, 0x2a, 8 - 1);
	EVALUATES(1, 0x26, 0, 0, 0x2a, 63);
	EVALUATES(0x8000000000000001, 0x26, 0, 0, 0x2a, 64);
	EVALUATES(0, C8(255), 0x2a, 0);
}

Test(interp, memory)
{
	EVALUATES(0x80, 0x23, 0x10, 0, 0x17);
	EVALUATES(0x9180, 0x23, 0x10, 0, 0x18);
	EVALUATES(0xc4b3a291, 0x23, 0x10, 1, 0x19);
	EVALUATES(0xf7e6d5c4b3a29180, 0x23, 0x10, 0, 0x1a);
	EVALUATES(0x08f7e6d5c4b3a291, 0x23, 0x10, 1, 0x1a);
	FAILS("offset 3: ref64: cannot read 8 bytes at 0x1002: Bad address", 0x23, 0x10,
	      2, 0x1a);
}

Test(interp, shuffles)
{
	EVALUATES(10, C8(5), 0x28, 0x02);
	EVALUATES(5, C8(5), C8(6), 0x29);
	EVALUATES(1, C8(5), C8(6), 0x2b, 0x03);
	EVALUATES(6, C8(5), C8(6), 0x32, 0);
	EVALUATES(5, C8(5), C8(6), 0x32, 1);
	/* a b c -> c a b */
	EVALUATES(2, C8(1), C8(2), C8(3), 0x33);
	EVALUATES(1, C8(1), C8(2), C8(3), 0x33, 0x29);
	EVALUATES(3, C8(1), C8(2), C8(3), 0x33, 0x29, 0x29);
}

/* Without a trace frame they only take their operands. */
Test(interp, tracing_has_no_effect)
{
	EVALUATES(1, C8(1), C8(2), C8(3), 0x0c);
	EVALUATES(2, C8(1), C8(2), 0x0d, 4);
	EVALUATES(1, C8(1), 0x2e, 0, 1);
	EVALUATES(1, C8(1), C8(2), C8(3), 0x2f);
	EVALUATES(2, C8(1), C8(2), 0x30, 1, 0);
}

Test(interp, jumps)
{
	EVALUATES(2, C8(1), 0x20, 0, 10, C8(1), 0x21, 0, 12, C8(2));
	EVALUATES(1, C8(0), 0x20, 0, 10, C8(1), 0x21, 0, 12, C8(2));
	/* n = 10; do n--; while (n); 7 */
	EVALUATES(7, C8(10), C8(1), 0x03, 0x28, 0x20, 0, 2, 0x29, C8(7));
}

Test(interp, endless_loop)
{
	FAILS("more than 1000000 operations: the expression loops", C8(1), 0x21, 0, 2);
}
