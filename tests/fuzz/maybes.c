/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/fuzz/maybes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gdbstub/agent/insn.h"

void maybes_count(struct maybes *maybes, const char *text)
{
	struct maybe_row *row = maybes->rows;

	while (row < &maybes->rows[MAYBES_MAX - 1] && row->count > 0 &&
	       strcmp(row->text, text) != 0)
		row++;
	if (row->count == 0)
		snprintf(row->text, sizeof(row->text), "%s", text);
	row->count++;
}

void maybes_print(const struct maybes *maybes, const char *title)
{
	printf("# %s:\n", title);
	for (int i = 0; i < MAYBES_MAX && maybes->rows[i].count > 0; i++)
		printf("#   %9" PRIu64 "  %s\n", maybes->rows[i].count,
		       maybes->rows[i].text);
}

static bool loops(const struct agent_expr *expr)
{
	size_t count;
	const struct agent_insn *insns = agent_expr_insns(expr, &count);

	for (size_t i = 0; i < count; i++)
		if (insns[i].loops)
			return true;
	return false;
}

const char *maybe_reason(const struct agent_expr *expr, const struct met *met,
			 enum run_end end)
{
	if (met->in_sequence)
		return "a thread in a restartable sequence";
	if (met->unreadable)
		return "memory or a register that cannot be read";
	if (end == RUN_FAULT)
		return "no room below the stack pointer";
	if (met->planted)
		return "memory under planted bytes";
	if (met->failed)
		return "a division by zero, or a loop without an end";
	if (!met->is_false)
		return NULL;
	return loops(expr) ? "a loop beyond its bound" : "no room for what is computed";
}
