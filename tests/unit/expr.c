/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/expr.h"

#include <criterion/criterion.h>

static struct agent_expr *check(struct agent_expr *expr, struct error *error)
{
	cr_assert_null(error, "%s", error ? error_text(error) : "");
	return expr;
}

struct agent_expr *make_expr(const uint8_t *code, size_t len)
{
	struct agent_expr *expr = NULL;
	struct error *error = agent_expr_create(code, len, &expr);

	return check(expr, error);
}

struct agent_expr *text_expr(const struct text *text)
{
	struct text whole = *text;

	text_put(&whole, AGENT_END);
	cr_assert_not(whole.full);
	return make_expr(whole.bytes, whole.len);
}

struct agent_expr *text_command(const struct text *text)
{
	struct agent_expr *expr = NULL;
	struct text whole = *text;
	struct error *error;

	text_put(&whole, AGENT_END);
	cr_assert_not(whole.full);
	error = agent_expr_create_command(whole.bytes, whole.len, &expr);
	return check(expr, error);
}
