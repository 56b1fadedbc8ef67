/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>

#include "gdbstub/agent/infix.h"
#include "gdbstub/agent/insn.h"
#include "gdbstub/agent/interp.h"
#include "gdbstub/locations/wanted_state.h"
#include "arch/arch.h"
#include "tests/unit/expr.h"

static uint64_t registers[64];

static int read_register(void *data, unsigned int number, uint64_t *value)
{
	(void)data;
	*value = registers[number];
	return 0;
}

static const struct arch_ops *arch(void)
{
	unsigned int count;

	arch_native()->registers(&count);
	if (count == 0)
		cr_assert_null(arch_native()->init());
	return arch_native();
}

static const char *name_of(unsigned int number)
{
	unsigned int count;

	return arch()->registers(&count)[number].name;
}

/* "name0=..., name1=..." of the first registers */
static struct wanted_state *wanted(const char *first, const char *second)
{
	_cleanup_buffer_ struct buffer text = {0};
	struct wanted_state *state = NULL;
	struct error *error;

	buffer_printf(&text, " %s=%s", name_of(0), first);
	if (second)
		buffer_printf(&text, "  %s=%s ", name_of(1), second);
	error = wanted_state_create(arch(), buffer_string(&text), &state);
	cr_assert_null(error, "%s", error ? error_text(error) : "");
	return state;
}

static bool holds(const struct agent_expr *expr)
{
	const struct agent_context context = {.read_register = read_register};
	uint64_t result;
	struct error *error = agent_expr_evaluate(expr, &context, &result);

	cr_assert_null(error, "%s", error ? error_text(error) : "");
	return result != 0;
}

/* Does one of the conditions hold? */
static bool any_holds(const struct agent_list *list)
{
	bool any = false;

	for (size_t i = 0; i < list->count; i++)
		any |= holds(list->exprs[i]);
	return any;
}

Test(wanted_state, registers_are_as_said)
{
	struct wanted_state *state = wanted("0x1f", "-2");
	const struct agent_list none = {0};
	struct agent_list list = {0};

	cr_assert_eq(wanted_state_join(state, &none, &list), 0);
	cr_assert_eq(list.count, 1);
	registers[0] = 0x1f;
	registers[1] = (uint64_t)-2;
	cr_expect(any_holds(&list));
	registers[1] = (uint64_t)-3;
	cr_expect_not(any_holds(&list));
	registers[0] = 0x1e;
	registers[1] = (uint64_t)-2;
	cr_expect_not(any_holds(&list));
	agent_list_clear(&list);
	wanted_state_destroy(state);
}

/* reg 2 == 1, by jumps; and reg 3 */
Test(wanted_state, conditions_hold_as_well)
{
	struct agent_expr *exprs[] = {
		EXPR(REG(2), CONST8(1), AGENT_EQUAL, IF_GOTO(14), CONST8(0), GOTO(16),
		     CONST8(7), AGENT_END),
		EXPR(REG(3), AGENT_END),
	};
	const struct agent_list conditions = {exprs, 2};
	struct wanted_state *state = wanted("5", NULL);
	struct agent_list list = {0};

	cr_assert_eq(wanted_state_join(state, &conditions, &list), 0);
	cr_assert_eq(list.count, 2);
	for (unsigned int i = 0; i < 8; i++) {
		registers[0] = i & 1 ? 5 : 6;
		registers[2] = i & 2 ? 1 : 2;
		registers[3] = i & 4 ? 9 : 0;
		cr_expect_eq(any_holds(&list), (i & 1) && (i & 6), "%u", i);
	}
	cr_expect_eq(wanted_state_join(NULL, &conditions, &list), 0);
	cr_expect(agent_list_equal(&list, &conditions));
	agent_list_clear(&list);
	agent_expr_unref(exprs[0]);
	agent_expr_unref(exprs[1]);
	wanted_state_destroy(state);
}

/* As gdb shows it: what is decided is what was asked for. */
Test(wanted_state, is_shown_as_a_condition)
{
	_cleanup_buffer_ struct buffer text = {0}, expected = {0};
	struct wanted_state *state = wanted("5", "6");
	const struct agent_list none = {0};
	struct agent_list list = {0};

	cr_assert_eq(wanted_state_join(state, &none, &list), 0);
	cr_expect(agent_expr_infix(list.exprs[0], arch(), &text));
	buffer_printf(&expected, "$%s == 5 && $%s == 6", name_of(0), name_of(1));
	cr_expect_str_eq(buffer_string(&text), buffer_string(&expected));
	agent_list_clear(&list);
	wanted_state_destroy(state);
}

Test(wanted_state, what_is_too_long)
{
	static uint8_t code[AGENT_LENGTH_MAX - 4];
	struct wanted_state *state = wanted("5", NULL);
	struct agent_expr *expr;
	struct agent_list list = {0};

	for (size_t i = 0; i + 3 < sizeof(code); i += 2) {
		code[i] = AGENT_CONST8;
		code[i + 1] = i & 1;
	}
	for (size_t i = 2; i + 3 < sizeof(code); i += 2)
		code[i] = code[i + 1] = AGENT_LOG_NOT;
	code[sizeof(code) - 1] = AGENT_END;
	code[sizeof(code) - 2] = AGENT_LOG_NOT;
	expr = make_expr(code, sizeof(code));
	cr_expect_eq(wanted_state_join(state, &(struct agent_list){&expr, 1}, &list),
		     -E2BIG);
	cr_expect_eq(list.count, 0);
	agent_expr_unref(expr);
	wanted_state_destroy(state);
}

Test(wanted_state, what_is_refused)
{
	static const char *const texts[] = {
		"nothing=1", "%s",    "%s=",
		"%s=x",	     "%s=1x", "%s=18446744073709551616",
		"=1",	     "%s==1", "%s=1 7",
		"%s=- 1",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		_cleanup_buffer_ struct buffer text = {0};
		const char *gap = strstr(texts[i], "%s");
		struct wanted_state *state = NULL;
		struct error *error;

		if (gap)
			buffer_append_string(&text, name_of(0));
		buffer_append_string(&text, gap ? gap + 2 : texts[i]);
		error = wanted_state_create(arch(), buffer_string(&text), &state);
		cr_expect_not_null(error, "%s", buffer_string(&text));
		error_destroy(error);
	}
}

/* As clients other than gdb may have it. */
Test(wanted_state, conditions_that_end_in_several_places)
{
	struct agent_expr *expr =
		EXPR(REG(2), IF_GOTO(9), CONST8(0), AGENT_END, CONST8(1), AGENT_END);
	struct wanted_state *state = wanted("5", NULL);
	struct agent_list list = {0};

	cr_expect_eq(wanted_state_join(state, &(struct agent_list){&expr, 1}, &list),
		     -EOPNOTSUPP);
	agent_expr_unref(expr);
	wanted_state_destroy(state);
}

/* A register that is too wide is none. */
Test(wanted_state, values_fit_their_registers)
{
	struct wanted_state *state = NULL;
	unsigned int count;
	const struct reg_def *rows = arch()->registers(&count);

	for (unsigned int i = 0; i < count; i++) {
		_cleanup_buffer_ struct buffer text = {0}, wide = {0};
		struct error *error;

		buffer_printf(&text, "%s=-1", rows[i].name);
		error = wanted_state_create(arch(), buffer_string(&text), &state);
		cr_expect_eq(error == NULL, rows[i].bits <= 64, "%s", rows[i].name);
		error_destroy(error);
		wanted_state_destroy(state);
		state = NULL;
		if (rows[i].bits >= 64)
			continue;
		buffer_printf(&wide, "%s=%ju", rows[i].name,
			      (uintmax_t)1 << rows[i].bits);
		error = wanted_state_create(arch(), buffer_string(&wide), &state);
		cr_expect_not_null(error, "%s", rows[i].name);
		error_destroy(error);
	}
}
