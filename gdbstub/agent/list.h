/* SPDX-License-Identifier: BSD-2-Clause */
/* A list of expressions: the conditions or the commands of a location. */
#ifndef TRUEHIT_AGENT_LIST_H
#define TRUEHIT_AGENT_LIST_H

#include "gdbstub/agent/expr.h"

/** {0} is an empty one. */
struct agent_list {
	struct agent_expr **exprs; /* owned references */
	size_t count;
};

/** Takes @expr over, even on failure: 0, or -ENOMEM. */
int agent_list_append(struct agent_list *list, struct agent_expr *expr);
/** Makes @list equal to @from, by references: 0, or -ENOMEM and nothing changed. */
int agent_list_set(struct agent_list *list, const struct agent_list *from);
/** The same expressions in the same order? */
bool agent_list_equal(const struct agent_list *a, const struct agent_list *b);
/** Does any of them jump back? */
bool agent_list_loops(const struct agent_list *list);
/** Gives all references back; the list is empty. */
void agent_list_clear(struct agent_list *list);

#endif
