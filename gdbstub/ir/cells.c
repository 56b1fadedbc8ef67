/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/ir/cells.h"

#include "gdbstub/agent/arith.h"

void cells_push(struct cells *s, struct ir_operand operand)
{
	s->cell[s->depth++] = operand;
}

struct ir_operand cells_pop(struct cells *s)
{
	return s->cell[--s->depth];
}

bool cells_in_place(const struct cells *s)
{
	for (unsigned int i = 0; i < s->depth; i++)
		if (!ir_is_slot(s->cell[i], i))
			return false;
	return true;
}

/* Operations that only rename cells. */
static void apply_shuffle(struct cells *s, const struct agent_insn *insn)
{
	struct ir_operand *top = &s->cell[s->depth - 1];
	struct ir_operand saved = *top;

	switch (insn->code) {
	case AGENT_DUP:
		cells_push(s, saved);
		break;
	case AGENT_POP:
		s->depth--;
		break;
	case AGENT_SWAP:
		top[0] = top[-1];
		top[-1] = saved;
		break;
	case AGENT_PICK:
		cells_push(s, top[-(ptrdiff_t)insn->operand]);
		break;
	case AGENT_ROT:
		top[0] = top[-1];
		top[-1] = top[-2];
		top[-2] = saved;
		break;
	}
}

static bool apply_binary(struct cells *s, uint8_t code)
{
	struct ir_operand *a = &s->cell[s->depth - 2];
	struct ir_operand *b = &s->cell[s->depth - 1];

	if (a->kind != IR_CONST || b->kind != IR_CONST ||
	    agent_arith(code, a->value, b->value, &a->value) < 0)
		return false;
	s->depth--;
	return true;
}

/* Operations on the top of the stack alone. */
static bool apply_unary(struct cells *s, const struct agent_insn *insn)
{
	struct ir_operand *top = &s->cell[s->depth - 1];
	bool extends = agent_opcode(insn->code)->class == AGENT_CLASS_EXTEND;

	if (extends && insn->operand >= 64)
		return true;
	if (top->kind != IR_CONST)
		return false;
	if (extends)
		top->value = agent_extend(insn->code, top->value, insn->operand);
	else if (insn->code == AGENT_LOG_NOT)
		top->value = !top->value;
	else if (insn->code == AGENT_BIT_NOT)
		top->value = ~top->value;
	else
		return false;
	return true;
}

bool cells_apply(struct cells *s, const struct agent_insn *insn)
{
	switch (agent_opcode(insn->code)->class) {
	case AGENT_CLASS_CONST:
		cells_push(s, ir_constant(insn->operand));
		return true;
	case AGENT_CLASS_SHUFFLE:
		apply_shuffle(s, insn);
		return true;
	case AGENT_CLASS_TRACE:
		s->depth -= agent_opcode(insn->code)->pops;
		s->depth += agent_opcode(insn->code)->pushes;
		return true;
	case AGENT_CLASS_ARITH:
	case AGENT_CLASS_COMPARE:
		return apply_binary(s, insn->code);
	}
	return s->depth > 0 && apply_unary(s, insn);
}

bool cells_use(const struct cells *s, unsigned int number, unsigned int except)
{
	for (unsigned int i = 0; i < s->depth; i++)
		if (i != except && ir_is_slot(s->cell[i], number))
			return true;
	return false;
}

unsigned int cells_free_slot(const struct cells *s)
{
	bool taken[AGENT_CELLS_MAX + 2] = {false};
	unsigned int free = 0;

	for (unsigned int i = 0; i < s->depth; i++)
		if (s->cell[i].kind == IR_SLOT)
			taken[s->cell[i].value] = true;
	if (!taken[s->depth])
		return s->depth;
	while (taken[free])
		free++;
	return free;
}
