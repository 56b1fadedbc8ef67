/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "gdbstub/agent/insn.h"
#include "tests/unit/compiled.h"
#include "gdbstub/agent/print.h"
#include "gdbstub/agent/interp.h"

/* ---- the interpreter ---- */

static int read_memory(void *data, uint64_t addr, void *value, size_t len)
{
	uint64_t offset = addr - (uintptr_t)memory;

	(void)data;
	if (offset > MEMORY_SIZE - len)
		return -EFAULT;
	memcpy(value, memory + offset, len);
	return 0;
}

static int read_register(void *data, unsigned int number, uint64_t *value)
{
	(void)data;
	if (number < NARGS)
		*value = fixture.exchange->args[number];
	else if (number == ROW_32)
		*value = (uint32_t)fixture.exchange->args[0];
	else if (number == ROW_16)
		*value = (uint16_t)fixture.exchange->args[1];
	else if (number == ROW_8)
		*value = (uint8_t)fixture.exchange->args[2];
	else if (number == ROW_PC)
		*value = (uintptr_t)hit;
	else
		return -ENODATA;
	return 0;
}

static const struct agent_context context = {.read_memory = read_memory,
					     .read_register = read_register};

enum bpf_verdict interpret(const struct agent_expr *expr, uint64_t *value)
{
	_cleanup_error_ struct error *error =
		agent_expr_evaluate(expr, &context, value);

	if (error)
		return BPF_MAYBE;
	return *value ? BPF_TRUE : BPF_FALSE;
}

static void describe(const struct agent_expr *expr, struct buffer *out)
{
	agent_expr_disassemble(expr, default_options().arch, out);
	for (unsigned int i = 0; i < NARGS; i++)
		buffer_printf(out, "$a%u = 0x%" PRIx64 "\n", i,
			      fixture.exchange->args[i]);
}

enum bpf_verdict expect_as_interpreted(const struct agent_expr *expr)
{
	_cleanup_buffer_ struct buffer text = {0};
	uint64_t value = 0;
	enum bpf_verdict expected = interpret(expr, &value);
	enum bpf_verdict got = run();

	if (got == BPF_MAYBE && agent_expr_jumps_back(expr))
		return got;
	if (got != expected)
		describe(expr, &text);
	cr_assert_eq(got, expected, "kernel: %d, interpreter: %d\n%s", got, expected,
		     buffer_string(&text));
	return got;
}

/* ---- pairs of values ---- */

void push_argument(struct text *t, uint16_t number, enum source source)
{
	text_put(t, REG(number));
	if (source == FROM_REGISTER)
		return;
	text_put(t, AGENT_BIT_NOT, AGENT_BIT_NOT);
}

void push_ballast(struct text *t, enum source source)
{
	for (int i = 0; source == FROM_DEEP_SLOT && i < 5; i++)
		push_argument(t, 3, FROM_SLOT);
}

void try_pairs(const struct text *operation, unsigned int noperands)
{
	struct text t = *operation;
	struct agent_expr *expr, *value_expr = text_expr(operation);
	struct bpf_compile_options options = default_options();

	text_put(&t, REG(2), AGENT_EQUAL);
	expr = text_expr(&t);
	for (int native = 0; native <= bpf_kernel_divides_signed(); native++) {
		int event;

		options.signed_division = native;
		event = start(&expr, 1, &options, false);
		for (unsigned int i = 0; i < EDGE_VALUES; i++) {
			for (unsigned int j = 0; j < (noperands > 1 ? EDGE_VALUES : 1U);
			     j++) {
				uint64_t value = 0;

				fixture.exchange->args[0] = edge_values[i];
				fixture.exchange->args[1] = edge_values[j];
				interpret(value_expr, &value);
				fixture.exchange->args[2] = value;
				expect_as_interpreted(expr);
				fixture.exchange->args[2] =
					value ^ 1ULL << (i + j) % 64;
				expect_as_interpreted(expr);
			}
		}
		close(event);
	}
	agent_expr_unref(expr);
	agent_expr_unref(value_expr);
}
