/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/ir/slot_assignment.h"

#include "gdbstub/ir/liveness.h"
#include "gdbstub/ir/traits.h"

/* By slot, as it is numbered so far. */
struct slots {
	unsigned int uses[TIDY_SLOTS];
	struct slot_set conflicts[TIDY_SLOTS]; /* slots that are needed at its time */
	struct slot_set partners[TIDY_SLOTS];  /* it is moved from or to them */
	unsigned int numbers[TIDY_SLOTS];      /* its new number, or NO_NUMBER */
};
enum { NO_NUMBER = TIDY_SLOTS };

static void count_use(struct slots *s, struct ir_operand operand)
{
	if (operand.kind == IR_SLOT)
		s->uses[operand.value]++;
}

/* The slot is written here, where others wait to be used: they cannot share, but
 * for the one whose value it gets. */
static void note_conflicts(struct slots *s, const struct liveness *l,
			   const struct ir_insn *insn)
{
	bool moves = insn->op == IR_MOVE && insn->a.kind == IR_SLOT;

	for (unsigned int i = 0; i < TIDY_SLOTS; i++) {
		if (l->needed[i] == 0 || i == insn->slot ||
		    (moves && ir_is_slot(insn->a, i)))
			continue;
		slot_set_add(&s->conflicts[i], insn->slot);
		slot_set_add(&s->conflicts[insn->slot], i);
	}
	if (!moves)
		return;
	slot_set_add(&s->partners[insn->slot], insn->a.value);
	slot_set_add(&s->partners[insn->a.value], insn->slot);
}

static void note(struct slots *s, const struct liveness *l, const struct ir_insn *insn)
{
	const struct ir_traits *traits = ir_traits(insn);

	if (!traits->ignores_a)
		count_use(s, insn->a);
	if (!traits->ignores_b)
		count_use(s, insn->b);
	if (!traits->sets)
		return;
	s->uses[insn->slot]++;
	note_conflicts(s, l, insn);
}

static bool is_free(const struct slots *s, unsigned int slot, unsigned int number)
{
	for (unsigned int i = 0; i < TIDY_SLOTS; i++)
		if (s->numbers[i] == number && slot_set_has(&s->conflicts[slot], i))
			return false;
	return true;
}

/* The number of a slot that it is moved from or to, as there is nothing to move then,
 * or the first that is free. */
static unsigned int choose_number(const struct slots *s, unsigned int slot)
{
	unsigned int number = 0;

	for (unsigned int i = 0; i < TIDY_SLOTS; i++)
		if (slot_set_has(&s->partners[slot], i) && s->numbers[i] != NO_NUMBER &&
		    is_free(s, slot, s->numbers[i]))
			return s->numbers[i];
	while (!is_free(s, slot, number))
		number++;
	return number;
}

/* The slot without a number that is used most; -1: none is used. */
static int most_used(const struct slots *s)
{
	int best = -1;

	for (int i = 0; i < TIDY_SLOTS; i++)
		if (s->numbers[i] == NO_NUMBER && s->uses[i] > 0 &&
		    (best < 0 || s->uses[i] > s->uses[best]))
			best = i;
	return best;
}

static void renumber(const struct slots *s, struct ir_operand *operand)
{
	if (operand->kind == IR_SLOT)
		operand->value = s->numbers[operand->value];
}

static void renumber_insn(const struct slots *s, struct ir_insn *insn)
{
	const struct ir_traits *traits = ir_traits(insn);

	if (ir_is_idle(insn))
		return;
	if (!traits->ignores_a)
		renumber(s, &insn->a);
	if (!traits->ignores_b)
		renumber(s, &insn->b);
	if (traits->sets)
		insn->slot = s->numbers[insn->slot];
}

int tidy_slots(struct ir *ir)
{
	_cleanup_(liveness_deinit) struct liveness l;
	struct slots s = {0};
	int r = liveness_init(&l, ir), slot;

	if (r < 0)
		return r;
	for (unsigned int i = 0; i < TIDY_SLOTS; i++)
		s.numbers[i] = NO_NUMBER;
	for (size_t i = ir->count; i-- > 0;) {
		if (liveness_is_dead(&l, &ir->insns[i]))
			ir_remove(&ir->insns[i]);
		if (ir_is_idle(&ir->insns[i]))
			continue;
		note(&s, &l, &ir->insns[i]);
		liveness_back(&l, &ir->insns[i]);
	}
	while ((slot = most_used(&s)) >= 0) {
		s.numbers[slot] = choose_number(&s, (unsigned int)slot);
		if (s.numbers[slot] >= ir->slots)
			ir->slots = s.numbers[slot] + 1;
	}
	for (size_t i = 0; i < ir->count; i++)
		renumber_insn(&s, &ir->insns[i]);
	return 0;
}
