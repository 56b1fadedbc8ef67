/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/agent/variables.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/agent/expr.h"
#include "gdbstub/agent/insn.h"

/* ---- cells ---- */

static struct variable_cells *cells_of(struct variables *variables)
{
	return variables->shared ? variables->shared : &variables->own;
}

static const struct variable_cells *cells_in(const struct variables *variables)
{
	return variables->shared ? variables->shared : &variables->own;
}

int variable_cell(const struct variable_cells *cells, unsigned int number)
{
	for (unsigned int i = 0; i < cells->count; i++)
		if (cells->cell[i].number == number)
			return (int)i;
	return -1;
}

/* Programs hold it for microseconds, and run to their end whatever happens to the
 * thread. */
static void lock(struct variable_cells *cells)
{
	while (__atomic_exchange_n(&cells->lock, 1, __ATOMIC_ACQUIRE) != 0)
		sched_yield();
}

static void unlock(struct variable_cells *cells)
{
	__atomic_store_n(&cells->lock, 0, __ATOMIC_RELEASE);
}

void variables_share(struct variables *variables, struct variable_cells *cells)
{
	*cells = *cells_of(variables);
	variables->shared = cells;
}

/* ---- what there is ---- */

/* The variable's cell, a new one if need be. */
static struct error *make(struct variables *variables, unsigned int number,
			  struct variable_cell **ret)
{
	struct variable_cells *cells = cells_of(variables);
	int index = variable_cell(cells, number);

	if (index < 0 && cells->count == VARIABLES_MAX)
		return error_create(0, "there are %d trace state variables already",
				    VARIABLES_MAX);
	if (index < 0) {
		index = (int)cells->count++;
		cells->cell[index].number = number;
	}
	*ret = &cells->cell[index];
	return NULL;
}

struct error *variables_set(struct variables *variables, unsigned int number,
			    int64_t value)
{
	struct variable_cells *cells = cells_of(variables);
	struct variable_cell *cell;
	struct error *error = make(variables, number, &cell);

	if (error)
		return error;
	lock(cells);
	cell->value = (uint64_t)value;
	cell->exists = true;
	unlock(cells);
	return NULL;
}

struct error *variables_define(struct variables *variables, unsigned int number,
			       int64_t value, const char *name)
{
	_cleanup_free_ char *copy = NULL;
	struct variable_name *named;
	struct error *error;

	if (name && *name != '\0' && !(copy = strdup(name)))
		return error_create(ENOMEM, "a trace state variable");
	error = variables_set(variables, number, value);
	if (error)
		return error;
	named = &variables->names[variable_cell(cells_of(variables), number)];
	free(named->text);
	*named = (struct variable_name){take_ptr(copy), value};
	return NULL;
}

static struct error *mention(struct variables *variables, const struct agent_expr *expr)
{
	size_t count;
	const struct agent_insn *insns = agent_expr_insns(expr, &count);
	struct error *error = NULL;

	for (size_t i = 0; i < count && !error; i++) {
		struct variable_cell *cell;

		if (agent_opcode(insns[i].code)->class != AGENT_CLASS_VARIABLE)
			continue;
		error = make(variables, (unsigned int)insns[i].operand, &cell);
		if (!error && insns[i].code == AGENT_SETV)
			cell->exists = true;
	}
	return error;
}

struct error *variables_mention(struct variables *variables,
				const struct agent_list *exprs)
{
	struct error *error = NULL;

	for (size_t i = 0; i < exprs->count && !error; i++)
		error = mention(variables, exprs->exprs[i]);
	return error;
}

bool variables_get(const struct variables *variables, unsigned int number,
		   uint64_t *value)
{
	const struct variable_cells *cells = cells_in(variables);
	int index = variable_cell(cells, number);

	if (index < 0 || !cells->cell[index].exists)
		return false;
	*value = __atomic_load_n(&cells->cell[index].value, __ATOMIC_RELAXED);
	return true;
}

static void forget_names(struct variables *variables)
{
	for (unsigned int i = 0; i < VARIABLES_MAX; i++) {
		free(variables->names[i].text);
		variables->names[i] = (struct variable_name){0};
	}
}

void variables_forget(struct variables *variables)
{
	struct variable_cells *cells = cells_of(variables);

	lock(cells);
	for (unsigned int i = 0; i < cells->count; i++) {
		cells->cell[i].value = 0;
		cells->cell[i].exists = false;
	}
	unlock(cells);
	forget_names(variables);
}

void variables_deinit(struct variables *variables)
{
	forget_names(variables);
}

void variables_print(const struct variables *variables, struct buffer *out)
{
	const struct variable_cells *cells = cells_in(variables);
	size_t before = out->len;

	for (unsigned int i = 0; i < cells->count; i++) {
		const struct variable_cell *cell = &cells->cell[i];
		const struct variable_name *name = &variables->names[i];

		if (!cell->exists)
			continue;
		if (out->len == before)
			buffer_append_string(out, "Num    Initial  Value  Name\n");
		buffer_printf(out, "%-5" PRIu32 "  %7" PRId64 "  %5" PRId64 "  %s%s\n",
			      cell->number, name->initial, (int64_t)cell->value,
			      name->text ? "$" : "", name->text ? name->text : "");
	}
	if (out->len == before)
		buffer_append_string(out, "No trace state variables.\n");
}

/* ---- an evaluation ---- */

void variables_draft_init(struct variables_draft *draft, struct variables *variables)
{
	draft->variables = variables;
	draft->begun = false;
}

/* The variable's cell. */
static int begin(struct variables_draft *draft, unsigned int number)
{
	struct variable_cells *cells = cells_of(draft->variables);
	int index = variable_cell(cells, number);

	if (index < 0 || !cells->cell[index].exists)
		return -ENODATA;
	if (!draft->begun) {
		draft->begun = true;
		lock(cells);
		for (unsigned int i = 0; i < cells->count; i++)
			draft->value[i] = cells->cell[i].value;
	}
	return index;
}

int variables_draft_read(struct variables_draft *draft, unsigned int number,
			 uint64_t *value)
{
	int index = begin(draft, number);

	if (index < 0)
		return index;
	*value = draft->value[index];
	return 0;
}

int variables_draft_write(struct variables_draft *draft, unsigned int number,
			  uint64_t value)
{
	int index = begin(draft, number);

	if (index < 0)
		return index;
	draft->value[index] = value;
	return 0;
}

void variables_draft_commit(struct variables_draft *draft)
{
	struct variable_cells *cells = cells_of(draft->variables);

	if (!draft->begun)
		return;
	for (unsigned int i = 0; i < cells->count; i++)
		__atomic_store_n(&cells->cell[i].value, draft->value[i],
				 __ATOMIC_RELAXED);
	unlock(cells);
	draft->begun = false;
}
