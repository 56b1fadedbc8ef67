/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/ir/lower.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/ir/cells.h"
#include "gdbstub/agent/expr.h"
#include "gdbstub/agent/insn.h"
#include "gdbstub/ir/tidy.h"

enum {
	INSNS_MAX = 1 << 16,
	FOLLOW_MAX = 64, /* operations looked at after a jump */
};

struct condition {
	enum ir_compare compare;
	struct ir_operand a, b;
};

struct lowering {
	const struct agent_insn *insns;
	const struct ir_target *target;
	struct ir *ir;
	uint32_t *references; /* by operation: jumps to it so far */
	/* Slots that no cell is in: for moves, and for what is left of the rounds. */
	unsigned int spare, rounds;
	struct cells cells;
	/* A comparison whose result is the top of the stack, above the cells,
	 * not computed yet: a jump on it needs no 0 or 1. */
	struct condition pending;
	bool has_pending;
	bool live; /* control reaches this point */
	bool is_command;
	int error; /* negative errno */
};

static void emit(struct lowering *l, struct ir_insn insn)
{
	struct ir *ir = l->ir;

	if (l->error < 0)
		return;
	if (ir->count == INSNS_MAX) {
		l->error = -E2BIG;
		return;
	}
	if (ir->count == ir->capacity) {
		size_t capacity = ir->capacity ? 2 * ir->capacity : 32;
		struct ir_insn *insns =
			reallocarray(ir->insns, capacity, sizeof(*insns));

		if (!insns) {
			l->error = -ENOMEM;
			return;
		}
		ir->insns = insns;
		ir->capacity = capacity;
	}
	ir->insns[ir->count++] = insn;
}

/* Control does not go on after a jump. */
static void emit_jump(struct lowering *l, uint32_t label)
{
	emit(l, (struct ir_insn){.op = IR_JUMP, .label = label});
	l->live = false;
}

static void emit_maybe(struct lowering *l, const char *reason)
{
	if (reason)
		l->target->undecided(l->target->data, reason);
	emit_jump(l, IR_MAYBE);
}

static void emit_label(struct lowering *l, uint32_t label)
{
	emit(l, (struct ir_insn){.op = IR_LABEL, .label = label});
}

/* Emits an operation with a result, and pushes that. */
static void emit_result(struct lowering *l, struct ir_insn insn)
{
	insn.slot = cells_free_slot(&l->cells);
	emit(l, insn);
	cells_push(&l->cells, ir_slot(insn.slot));
}

/* Computes a comparison that turned out to be needed as a number. */
static void settle(struct lowering *l)
{
	if (!l->has_pending)
		return;
	l->has_pending = false;
	emit_result(l, (struct ir_insn){.op = IR_SET,
					.compare = l->pending.compare,
					.a = l->pending.a,
					.b = l->pending.b});
}

static void move_to_place(struct lowering *l, struct ir_operand from, unsigned int to)
{
	bool hide = from.kind == IR_CONST && l->target->hides;

	emit(l,
	     (struct ir_insn){.op = hide ? IR_HIDE : IR_MOVE, .slot = to, .a = from});
}

/* Moves the cells whose place nobody reads any more. Returns what is left. */
static unsigned int place_free_cells(struct lowering *l, struct cells *s,
				     unsigned int *blocked)
{
	unsigned int left = 0;
	bool moved;

	do {
		moved = false;
		left = 0;
		for (unsigned int i = 0; i < s->depth; i++) {
			if (ir_is_slot(s->cell[i], i))
				continue;
			if (cells_use(s, i, i)) {
				*blocked = i;
				left++;
				continue;
			}
			move_to_place(l, s->cell[i], i);
			s->cell[i] = ir_slot(i);
			moved = true;
		}
	} while (moved);
	return left;
}

/* Moves every cell to its place: what a label expects. */
static void place(struct lowering *l, struct cells *s)
{
	unsigned int blocked = 0;

	/* What is left goes in circles: one value steps aside for each. */
	while (place_free_cells(l, s, &blocked) > 0) {
		emit(l, (struct ir_insn){.op = IR_MOVE,
					 .slot = l->spare,
					 .a = ir_slot(blocked)});
		for (unsigned int i = 0; i < s->depth; i++)
			if (ir_is_slot(s->cell[i], blocked))
				s->cell[i] = ir_slot(l->spare);
	}
}

/* Where a jump leads in the end. */
struct destination {
	uint32_t label;
	size_t at; /* the operation, if the label is no exit */
	struct cells cells;
};

static uint32_t label_of(size_t index)
{
	return IR_LABELS + (uint32_t)index;
}

/* One operation after a jump: false if it has to be left for run time. */
static bool follow_one(const struct lowering *l, struct destination *d)
{
	const struct agent_insn *insn = &l->insns[d->at];
	struct ir_operand top;

	if (insn->code == AGENT_GOTO) {
		d->at = insn->target;
		return true;
	}
	if (insn->code == AGENT_END && l->is_command) {
		d->label = IR_FALSE;
		return true;
	}
	if (insn->code != AGENT_IF_GOTO && insn->code != AGENT_END) {
		d->at++;
		return cells_apply(&d->cells, insn);
	}
	top = d->cells.cell[d->cells.depth - 1];
	if (top.kind != IR_CONST)
		return false;
	d->cells.depth--;
	if (insn->code == AGENT_END)
		d->label = top.value ? IR_TRUE : IR_FALSE;
	else
		d->at = top.value ? insn->target : d->at + 1;
	return true;
}

/*
 * Follows a jump as far as its way is known: gdb's && and || leave a 0 or 1 for
 * a next jump to test. With @branch the jump is conditional: there is no place
 * to move cells then. No way leads past a loop's head, where rounds are counted.
 */
static struct destination follow(const struct lowering *l, size_t at, bool branch)
{
	struct destination best = {label_of(at), at, l->cells}, d = best;

	for (unsigned int i = 0; i < FOLLOW_MAX; i++) {
		if (l->insns[d.at].loops || !follow_one(l, &d))
			break;
		if (d.label < IR_LABELS)
			return d;
		if (l->insns[d.at].leader && (!branch || cells_in_place(&d.cells))) {
			best = d;
			best.label = label_of(d.at);
		}
	}
	return best;
}

static void refer(struct lowering *l, const struct destination *d)
{
	if (d->label >= IR_LABELS)
		l->references[d->at]++;
}

/* Control goes on at the operation @at, which is a leader. */
static void go(struct lowering *l, size_t at)
{
	struct destination d = follow(l, at, false);

	refer(l, &d);
	if (d.label >= IR_LABELS)
		place(l, &d.cells);
	emit_jump(l, d.label);
}

static struct condition take_condition(struct lowering *l)
{
	if (l->has_pending) {
		l->has_pending = false;
		return l->pending;
	}
	return (struct condition){IR_NE, cells_pop(&l->cells), ir_constant(0)};
}

static void set_pending(struct lowering *l, struct condition condition)
{
	l->pending = condition;
	l->has_pending = true;
}

/* Before a branch: the cells to their places, the operands out of their way. */
static void place_with_condition(struct lowering *l, struct condition *condition)
{
	struct ir_operand *operands[] = {&condition->a, &condition->b};
	unsigned int depth = l->cells.depth;

	if (cells_in_place(&l->cells))
		return;
	for (unsigned int i = 0; i < 2; i++)
		if (operands[i]->kind == IR_SLOT)
			cells_push(&l->cells, *operands[i]);
	place(l, &l->cells);
	l->cells.depth = depth;
	for (unsigned int i = 0; i < 2; i++)
		if (operands[i]->kind == IR_SLOT)
			*operands[i] = ir_slot(depth++);
}

static void emit_branch(struct lowering *l, struct condition condition, uint32_t label)
{
	emit(l, (struct ir_insn){.op = IR_BRANCH,
				 .compare = condition.compare,
				 .a = condition.a,
				 .b = condition.b,
				 .label = label});
}

static void lower_if(struct lowering *l, const struct agent_insn *insn)
{
	struct condition condition = take_condition(l);
	struct destination d;

	/* A constant is never pending: it is a plain cell. */
	if (condition.a.kind == IR_CONST && condition.b.kind == IR_CONST) {
		if (condition.a.value != 0)
			go(l, insn->target);
		return;
	}
	place_with_condition(l, &condition);
	d = follow(l, insn->target, true);
	refer(l, &d);
	emit_branch(l, condition, d.label);
}

static void lower_end(struct lowering *l)
{
	struct condition condition;

	if (l->is_command) { /* what is on the stack means nothing */
		emit_jump(l, IR_FALSE);
		return;
	}
	condition = take_condition(l);
	if (condition.a.kind == IR_CONST && condition.b.kind == IR_CONST) {
		emit_jump(l, condition.a.value != 0 ? IR_TRUE : IR_FALSE);
		return;
	}
	emit_branch(l, condition, IR_TRUE);
	emit_jump(l, IR_FALSE);
}

static void lower_not(struct lowering *l)
{
	struct condition condition = take_condition(l);

	condition.compare = ir_compare_negated(condition.compare);
	set_pending(l, condition);
}

static void lower_arith(struct lowering *l, uint8_t code)
{
	struct ir_operand b = cells_pop(&l->cells);
	struct ir_operand a = cells_pop(&l->cells);

	emit_result(l, (struct ir_insn){.op = IR_ARITH, .code = code, .a = a, .b = b});
}

static void lower_compare(struct lowering *l, uint8_t code)
{
	struct ir_operand b = cells_pop(&l->cells);
	struct ir_operand a = cells_pop(&l->cells);
	enum ir_compare compare = code == AGENT_EQUAL	      ? IR_EQ
				  : code == AGENT_LESS_SIGNED ? IR_LT_SIGNED
							      : IR_LT_UNSIGNED;

	set_pending(l, (struct condition){compare, a, b});
}

static void lower_register(struct lowering *l, unsigned int number)
{
	if (number == AGENT_REG_THREAD && l->target->reads_thread)
		emit_result(l, (struct ir_insn){.op = IR_THREAD});
	else if (number == AGENT_REG_THREAD)
		emit_maybe(l, "reads the thread's number");
	else if (l->target->register_bits(l->target->data, number))
		cells_push(&l->cells, (struct ir_operand){IR_REGISTER, number});
	else
		emit_maybe(l, NULL);
}

/* setv leaves the value on the stack. */
static void lower_variable(struct lowering *l, const struct agent_insn *insn)
{
	struct ir_insn result = {.op = IR_GETV, .b = ir_constant(insn->operand)};

	if (!l->target->has_variable(l->target->data, (unsigned int)insn->operand)) {
		emit_maybe(l, NULL);
	} else if (insn->code == AGENT_GETV) {
		emit_result(l, result);
	} else {
		result.op = IR_SETV;
		result.a = l->cells.cell[l->cells.depth - 1];
		emit(l, result);
	}
}

/* The channel and the function come first, and mean nothing here. */
static void lower_print(struct lowering *l, const struct agent_insn *insn)
{
	struct ir_insn out = {.op = IR_PRINT, .printf = (uint32_t)(insn - l->insns)};

	l->cells.depth -= 2;
	emit(l, out);
	out.op = IR_STORE;
	for (uint64_t i = 0; i < insn->operand; i++) {
		out.a = cells_pop(&l->cells);
		out.b = ir_constant(i);
		emit(l, out);
	}
}

/* What is left when neither control flow nor folding was the operation's work. */
static void lower_value(struct lowering *l, const struct agent_insn *insn)
{
	const struct agent_opcode *opcode = agent_opcode(insn->code);
	struct ir_insn result = {.code = insn->code, .b = ir_constant(insn->operand)};

	switch (opcode->class) {
	case AGENT_CLASS_ARITH:
		lower_arith(l, insn->code);
		return;
	case AGENT_CLASS_COMPARE:
		lower_compare(l, insn->code);
		return;
	case AGENT_CLASS_VARIABLE:
		lower_variable(l, insn);
		return;
	case AGENT_CLASS_PRINT:
		lower_print(l, insn);
		return;
	case AGENT_CLASS_REF:
		result.op = IR_REF;
		result.b = ir_constant(opcode->size);
		break;
	case AGENT_CLASS_EXTEND:
		result.op = IR_EXTEND;
		break;
	default:
		if (insn->code == AGENT_REG) {
			lower_register(l, (unsigned int)insn->operand);
			return;
		}
		/* AGENT_BIT_NOT */
		result.op = IR_ARITH;
		result.code = AGENT_BIT_XOR;
		result.b = ir_constant(UINT64_MAX);
	}
	result.a = cells_pop(&l->cells);
	emit_result(l, result);
}

static void lower_insn(struct lowering *l, const struct agent_insn *insn)
{
	if (insn->code == AGENT_END) {
		lower_end(l);
		return;
	}
	if (insn->code == AGENT_IF_GOTO) {
		lower_if(l, insn);
		return;
	}
	if (!l->has_pending && cells_apply(&l->cells, insn))
		return;
	if (insn->code == AGENT_LOG_NOT) {
		lower_not(l);
		return;
	}
	settle(l);
	if (insn->code == AGENT_GOTO)
		go(l, insn->target);
	else if (!cells_apply(&l->cells, insn))
		lower_value(l, insn);
}

/* One round less; none is left: the stub decides. */
static void count_round(struct lowering *l)
{
	struct ir_operand rounds = ir_slot(l->rounds);

	emit(l, (struct ir_insn){.op = IR_ARITH,
				 .code = AGENT_SUB,
				 .slot = l->rounds,
				 .a = rounds,
				 .b = ir_constant(1)});
	emit_branch(l, (struct condition){IR_EQ, rounds, ir_constant(0)}, IR_MAYBE);
}

/* A place that jumps may lead to: from here on each cell is in its place. */
static void start_block(struct lowering *l, size_t index)
{
	bool loops = l->insns[index].loops;

	/* All jumps that lead forward to it were seen; not so those that lead back,
	 * which may turn out to be out of reach: that is tidied up later. */
	if (l->references[index] == 0 && !loops && l->live)
		return;
	if (l->live) {
		settle(l);
		go(l, index);
	}
	if (l->references[index] == 0 && !loops)
		return;
	emit_label(l, label_of(index));
	if (loops)
		count_round(l);
	l->live = true;
	l->has_pending = false;
	l->cells.depth = 0;
	for (int i = 0; i < l->insns[index].depth; i++)
		cells_push(&l->cells, ir_slot((unsigned int)i));
}

static void lower_all(struct lowering *l, size_t count)
{
	for (size_t i = 0; i < count && l->error == 0; i++) {
		if (l->insns[i].leader)
			start_block(l, i);
		if (l->live)
			lower_insn(l, &l->insns[i]);
	}
	emit_label(l, IR_FALSE);
}

/*
 * How often the heads of loops may be reached, together. What is executed from one
 * head to the next is each operation at most once: the interpreter's limit is not
 * met before this one.
 */
static uint64_t rounds_of(const struct ir_target *target, size_t count)
{
	return 2 + target->loop_steps / count;
}

/* The finished code is of no use: it becomes a jump to IR_MAYBE. */
static void give_up(struct lowering *l, const char *reason)
{
	l->ir->count = l->ir->slots = 0;
	memset(l->ir->used, 0, sizeof(l->ir->used));
	l->ir->used[IR_MAYBE] = true;
	emit_maybe(l, reason);
}

static struct error *ir_error(struct ir *ir, int error)
{
	ir_deinit(ir);
	if (error == -E2BIG)
		return error_create(0, "the condition needs more code than a jump can "
				       "span");
	return error_create(-error, "cannot compile a condition");
}

struct error *ir_lower(const struct agent_expr *expr, const struct ir_target *target,
		       struct ir *ret)
{
	size_t count;
	const struct agent_insn *insns = agent_expr_insns(expr, &count);
	unsigned int depth = agent_expr_max_depth(expr);
	_cleanup_free_ uint32_t *references = calloc(count, sizeof(*references));
	struct lowering l = {.insns = insns,
			     .target = target,
			     .ir = ret,
			     .references = references,
			     .spare = depth,
			     .rounds = depth + 1,
			     .live = true,
			     .is_command = agent_expr_is_command(expr)};
	bool loops = agent_expr_jumps_back(expr);

	*ret = (struct ir){.labels = label_of(count)};
	if (!references)
		return ir_error(ret, -ENOMEM);
	if (depth > AGENT_CELLS_MAX) {
		give_up(&l, "needs a deeper stack");
		return l.error < 0 ? ir_error(ret, l.error) : NULL;
	}
	if (loops)
		emit(&l, (struct ir_insn){.op = IR_MOVE,
					  .slot = l.rounds,
					  .a = ir_constant(rounds_of(target, count))});
	lower_all(&l, count);
	if (l.error == 0)
		l.error = ir_tidy(ret, target);
	if (l.error == 0 && ret->slots > target->slots)
		give_up(&l, "needs a deeper stack");
	return l.error < 0 ? ir_error(ret, l.error) : NULL;
}
