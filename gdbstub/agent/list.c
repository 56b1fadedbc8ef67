/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/agent/list.h"

#include <errno.h>
#include <stdlib.h>

int agent_list_append(struct agent_list *list, struct agent_expr *expr)
{
	struct agent_expr **bigger =
		realloc(list->exprs, (list->count + 1) * sizeof(struct agent_expr *));

	if (!bigger) {
		agent_expr_unref(expr);
		return -ENOMEM;
	}
	list->exprs = bigger;
	list->exprs[list->count++] = expr;
	return 0;
}

int agent_list_set(struct agent_list *list, const struct agent_list *from)
{
	struct agent_list copy = {0};

	for (size_t i = 0; i < from->count; i++) {
		if (agent_list_append(&copy, agent_expr_ref(from->exprs[i])) < 0) {
			agent_list_clear(&copy);
			return -ENOMEM;
		}
	}
	agent_list_clear(list);
	*list = copy;
	return 0;
}

bool agent_list_equal(const struct agent_list *a, const struct agent_list *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (!agent_expr_equal(a->exprs[i], b->exprs[i]))
			return false;
	return true;
}

bool agent_list_loops(const struct agent_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (agent_expr_jumps_back(list->exprs[i]))
			return true;
	return false;
}

void agent_list_clear(struct agent_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		agent_expr_unref(list->exprs[i]);
	free(list->exprs);
	*list = (struct agent_list){0};
}
