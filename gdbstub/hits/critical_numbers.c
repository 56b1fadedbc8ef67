/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/hits/critical_numbers.h"

#include "gdbstub/agent/arith.h"
#include "gdbstub/agent/expr.h"
#include "gdbstub/agent/insn.h"

void critical_numbers_add(struct critical_numbers *numbers, uint64_t number)
{
	for (unsigned int i = 0; i < numbers->count; i++) {
		if (numbers->number[i] == number)
			return;
	}
	if (numbers->count < CRITICAL_NUMBERS_MAX)
		numbers->number[numbers->count++] = number;
}

/* gdb has constants below zero extended by the operation after them. What is read at
 * is none. */
static void add_constants(struct critical_numbers *numbers,
			  const struct agent_expr *expr)
{
	size_t count;
	const struct agent_insn *insns = agent_expr_insns(expr, &count);

	for (size_t i = 0; i + 1 < count; i++) {
		const struct agent_insn *insn = &insns[i], *next = &insns[i + 1];

		if (agent_opcode(insn->code)->class != AGENT_CLASS_CONST ||
		    agent_opcode(next->code)->class == AGENT_CLASS_REF)
			continue;
		critical_numbers_add(
			numbers,
			next->code == AGENT_EXT
				? agent_extend(AGENT_EXT, insn->operand, next->operand)
				: insn->operand);
	}
}

void critical_numbers_init(struct critical_numbers *numbers,
			   const struct agent_list *conditions)
{
	*numbers = (struct critical_numbers){0};
	for (size_t i = 0; i < conditions->count; i++) {
		if (agent_expr_jumps_back(conditions->exprs[i])) {
			*numbers = (struct critical_numbers){
				.next_small = CRITICAL_NUMBERS_SMALL};
			return;
		}
		add_constants(numbers, conditions->exprs[i]);
	}
	critical_numbers_add(numbers, 0);
	critical_numbers_add(numbers, 1);
	critical_numbers_add(numbers, (uint64_t)INT32_MIN);
	critical_numbers_add(numbers, (uint64_t)INT64_MIN);
}

/* Numbers that are added meanwhile come last. */
static void next_pair(struct critical_numbers *numbers)
{
	numbers->way = 0;
	if (numbers->second++ == numbers->first) {
		numbers->first++;
		numbers->second = 0;
	}
}

bool critical_numbers_next(struct critical_numbers *numbers, uint64_t *number)
{
	uint64_t a, b;

	if (numbers->next_small < CRITICAL_NUMBERS_SMALL) {
		*number = numbers->next_small++;
		return true;
	}
	if (numbers->first >= numbers->count)
		return false;
	a = numbers->number[numbers->first];
	b = numbers->number[numbers->second];
	switch (numbers->way++) {
	case 0:
		*number = a + b;
		break;
	case 1:
		*number = a - b;
		break;
	default:
		*number = b - a;
		next_pair(numbers);
		break;
	}
	return true;
}
