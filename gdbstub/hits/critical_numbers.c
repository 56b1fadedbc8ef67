/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/hits/critical_numbers.h"

#include "gdbstub/agent/arith.h"
#include "gdbstub/agent/expr.h"
#include "gdbstub/agent/insn.h"

void guess_add(struct guess *guess, uint64_t number)
{
	for (unsigned int i = 0; i < guess->count; i++) {
		if (guess->number[i] == number)
			return;
	}
	if (guess->count < GUESS_NUMBERS_MAX)
		guess->number[guess->count++] = number;
}

/* gdb has constants below zero extended by the operation after them. What is read at
 * is none. */
static void add_constants(struct guess *guess, const struct agent_expr *expr)
{
	size_t count;
	const struct agent_insn *insns = agent_expr_insns(expr, &count);

	for (size_t i = 0; i + 1 < count; i++) {
		const struct agent_insn *insn = &insns[i], *next = &insns[i + 1];

		if (agent_opcode(insn->code)->class != AGENT_CLASS_CONST ||
		    agent_opcode(next->code)->class == AGENT_CLASS_REF)
			continue;
		guess_add(guess, next->code == AGENT_EXT
					 ? agent_extend(AGENT_EXT, insn->operand,
							next->operand)
					 : insn->operand);
	}
}

void guess_init(struct guess *guess, const struct agent_list *conditions)
{
	*guess = (struct guess){0};
	for (size_t i = 0; i < conditions->count; i++) {
		if (agent_expr_jumps_back(conditions->exprs[i])) {
			*guess = (struct guess){.next_small = GUESS_SMALL};
			return;
		}
		add_constants(guess, conditions->exprs[i]);
	}
	guess_add(guess, 0);
	guess_add(guess, 1);
	guess_add(guess, (uint64_t)INT32_MIN);
	guess_add(guess, (uint64_t)INT64_MIN);
}

/* Numbers that are added meanwhile come last. */
static void next_pair(struct guess *guess)
{
	guess->way = 0;
	if (guess->second++ == guess->first) {
		guess->first++;
		guess->second = 0;
	}
}

bool guess_next(struct guess *guess, uint64_t *number)
{
	uint64_t a, b;

	if (guess->next_small < GUESS_SMALL) {
		*number = guess->next_small++;
		return true;
	}
	if (guess->first >= guess->count)
		return false;
	a = guess->number[guess->first];
	b = guess->number[guess->second];
	switch (guess->way++) {
	case 0:
		*number = a + b;
		break;
	case 1:
		*number = a - b;
		break;
	default:
		*number = b - a;
		next_pair(guess);
		break;
	}
	return true;
}
