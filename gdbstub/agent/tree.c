/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/agent/tree.h"

#include <errno.h>
#include <stdlib.h>

#include "gdbstub/agent/arith.h"
#include "gdbstub/agent/expr.h"

enum { NESTING_MAX = 100 };

/* A comparison's opposite, and what it is with its operands exchanged. */
static const struct compare_def {
	enum node_op negated, swapped;
} compares[] = {
	[OP_LT] = {OP_GE, OP_GT}, [OP_LE] = {OP_GT, OP_GE}, [OP_GT] = {OP_LE, OP_LT},
	[OP_GE] = {OP_LT, OP_LE}, [OP_EQ] = {OP_NE, OP_EQ}, [OP_NE] = {OP_EQ, OP_NE},
};

static bool is_compare(enum node_op op)
{
	return op >= OP_LT && op <= OP_NE;
}

/* Which operator a code is, and whether C has to be told of the unsignedness. */
static const struct binary_def {
	enum node_op op;
	bool is_unsigned;
} binaries[] = {
	[AGENT_ADD] = {OP_ADD, false},	       [AGENT_SUB] = {OP_SUB, false},
	[AGENT_MUL] = {OP_MUL, false},	       [AGENT_DIV_SIGNED] = {OP_DIV, false},
	[AGENT_DIV_UNSIGNED] = {OP_DIV, true}, [AGENT_REM_SIGNED] = {OP_REM, false},
	[AGENT_REM_UNSIGNED] = {OP_REM, true}, [AGENT_LSH] = {OP_LSH, false},
	[AGENT_RSH_SIGNED] = {OP_RSH, false},  [AGENT_RSH_UNSIGNED] = {OP_RSH, true},
	[AGENT_BIT_AND] = {OP_BIT_AND, false}, [AGENT_BIT_OR] = {OP_BIT_OR, false},
	[AGENT_BIT_XOR] = {OP_BIT_XOR, false}, [AGENT_EQUAL] = {OP_EQ, false},
	[AGENT_LESS_SIGNED] = {OP_LT, false},  [AGENT_LESS_UNSIGNED] = {OP_LT, true},
};

static bool assigns(const struct node *node)
{
	return node && node->assigns;
}

static const struct node *make(struct tree *tree, struct node node)
{
	struct node *ret = &tree->pool[tree->used];

	if (tree->used == tree->capacity)
		return NULL;
	tree->used++;
	*ret = node;
	ret->assigns = node.kind == KIND_ASSIGN || assigns(node.a) || assigns(node.b) ||
		       assigns(node.c);
	return ret;
}

static const struct node *make_const(struct tree *tree, uint64_t value)
{
	return make(tree, (struct node){.kind = KIND_CONST, .value = value});
}

static bool push(struct tree_stack *s, const struct node *node)
{
	if (!node || s->depth == AGENT_STACK_MAX)
		return false;
	s->cells[s->depth++] = node;
	return true;
}

static bool is_sum_with_const(const struct node *node)
{
	return node->kind == KIND_BINARY &&
	       (node->op == OP_ADD || node->op == OP_SUB) &&
	       node->b->kind == KIND_CONST;
}

static uint64_t summand(const struct node *node)
{
	return node->op == OP_ADD ? node->b->value : -node->b->value;
}

/* "x - 4" rather than "x + -4", and rather than "x + 16 - 20" */
static const struct node *make_sum(struct tree *tree, const struct node *sum)
{
	struct node node = *sum;
	uint64_t value = summand(sum);

	if (is_sum_with_const(sum->a)) {
		value += summand(sum->a);
		node.a = sum->a->a;
	}
	if (value == 0)
		return node.a;
	node.op = (int64_t)value < 0 ? OP_SUB : OP_ADD;
	node.b = make_const(tree, node.op == OP_SUB ? -value : value);
	return node.b ? make(tree, node) : NULL;
}

static const struct node *make_binary(struct tree *tree, uint8_t code,
				      const struct node *a, const struct node *b)
{
	const struct binary_def *def = &binaries[code];
	struct node node = {.kind = KIND_BINARY,
			    .op = def->op,
			    .is_signed = !def->is_unsigned,
			    .a = a,
			    .b = b};

	/* "x > 3" rather than "3 < x" */
	if (is_compare(node.op) && a->kind == KIND_CONST && b->kind != KIND_CONST) {
		node.op = compares[node.op].swapped;
		node.a = b;
		node.b = a;
	}
	if (is_sum_with_const(&node))
		return make_sum(tree, &node);
	return make(tree, node);
}

static const struct node *
make_extended(struct tree *tree, const struct agent_insn *insn, const struct node *a)
{
	bool is_signed = insn->code == AGENT_EXT;
	uint64_t bits = insn->operand < 64 ? insn->operand : 64;
	struct node node = {
		.kind = KIND_CAST, .value = bits, .a = a, .is_signed = is_signed};

	if (a->kind == KIND_CONST)
		return make_const(tree, agent_extend(insn->code, a->value, bits));
	if (a->kind == KIND_MEMORY && a->value == bits) {
		node = *a;
		node.is_signed = is_signed;
	} else if (bits == 64) {
		return a;
	}
	return make(tree, node);
}

static const struct node *make_not(struct tree *tree, const struct node *a)
{
	struct node node = *a;

	if (a->kind == KIND_BINARY && is_compare(a->op))
		node.op = compares[a->op].negated;
	else
		node = (struct node){.kind = KIND_UNARY, .op = OP_NOT, .a = a};
	return make(tree, node);
}

/* Where only zero or not matters, the negation of !a is a. */
static const struct node *negate_condition(struct tree *tree, const struct node *a)
{
	return a->kind == KIND_UNARY && a->op == OP_NOT ? a->a : make_not(tree, a);
}

/* Would the operation lose an assignment, double it, or put it elsewhere? */
static bool moves_assignment(const struct tree_stack *s, const struct agent_insn *insn)
{
	const struct node *const *top = &s->cells[s->depth - 1];

	if (insn->code == AGENT_SWAP)
		return (assigns(top[0]) && top[-1]->kind != KIND_CONST) ||
		       (assigns(top[-1]) && top[0]->kind != KIND_CONST);
	for (unsigned int i = 0; i < agent_insn_needs(insn); i++)
		if (assigns(top[-(ptrdiff_t)i]))
			return true;
	return false;
}

static bool shuffle(struct tree_stack *s, const struct agent_insn *insn)
{
	const struct node **top = &s->cells[s->depth - 1];
	const struct node *saved = *top;

	if (moves_assignment(s, insn))
		return false;
	switch (insn->code) {
	case AGENT_DUP:
		return push(s, saved);
	case AGENT_POP:
		s->depth--;
		return true;
	case AGENT_SWAP:
		top[0] = top[-1];
		top[-1] = saved;
		return true;
	case AGENT_PICK:
		return push(s, top[-(ptrdiff_t)insn->operand]);
	default: /* AGENT_ROT */
		top[0] = top[-1];
		top[-1] = top[-2];
		top[-2] = saved;
		return true;
	}
}

/* One operation that does not change the flow of control. */
static bool apply(struct tree *tree, struct tree_stack *s,
		  const struct agent_insn *insn)
{
	const struct agent_opcode *opcode = agent_opcode(insn->code);
	const struct node **operands;
	struct node node = {.kind = KIND_UNARY, .op = OP_BIT_NOT};

	/* An arm of && reaches below what it pushed: not gdb's shape. */
	if (s->depth < agent_insn_needs(insn) || opcode->class == AGENT_CLASS_PRINT ||
	    opcode->class == AGENT_CLASS_TRACE)
		return false;
	if (opcode->class == AGENT_CLASS_SHUFFLE)
		return shuffle(s, insn);
	s->depth -= opcode->pops;
	operands = &s->cells[s->depth];
	switch (opcode->class) {
	case AGENT_CLASS_ARITH:
	case AGENT_CLASS_COMPARE:
		return push(s, make_binary(tree, insn->code, operands[0], operands[1]));
	case AGENT_CLASS_CONST:
		return push(s, make_const(tree, insn->operand));
	case AGENT_CLASS_EXTEND:
		return push(s, make_extended(tree, insn, operands[0]));
	case AGENT_CLASS_REF:
		node.kind = KIND_MEMORY;
		node.value = (uint64_t)opcode->size * 8;
		break;
	case AGENT_CLASS_VARIABLE:
		node.kind = insn->code == AGENT_SETV ? KIND_ASSIGN : KIND_VARIABLE;
		node.value = insn->operand;
		break;
	}
	if (insn->code == AGENT_LOG_NOT)
		return push(s, make_not(tree, operands[0]));
	if (insn->code == AGENT_REG)
		node = (struct node){.kind = KIND_REGISTER, .value = insn->operand};
	else if (opcode->pops > 0)
		node.a = operands[0];
	return push(s, make(tree, node));
}

static const struct node *stretch(struct tree *tree, size_t from, size_t to,
				  unsigned int nesting);

static bool is_goto(const struct agent_insn *insn, size_t target)
{
	return insn->code == AGENT_GOTO && insn->target == target;
}

static bool is_if(const struct agent_insn *insn, size_t target)
{
	return insn->code == AGENT_IF_GOTO && insn->target == target;
}

static bool is_push(const struct agent_insn *insn, uint64_t value)
{
	return agent_opcode(insn->code)->class == AGENT_CLASS_CONST &&
	       insn->operand == value;
}

/* An if_goto that one of the shapes below may begin with. */
struct site {
	const struct node *condition;
	size_t at;    /* the if_goto */
	size_t limit; /* the shape has to end here at the latest */
	size_t end;   /* where it ends; 0: it is not this shape */
	unsigned int nesting;
};

/*
 * The shapes are gdb's (ax-gdb.c, gen_expr). A matcher sets site->end and
 * returns the node, or NULL if an arm of the shape cannot be written.
 *
 * a && b:  if_goto L; goto F; L: b; if_goto T; goto F; T: 1; goto E; F: 0; E:
 */
static const struct node *match_and(struct tree *tree, struct site *site)
{
	const struct agent_insn *insns = tree->insns;
	struct node node = {.kind = KIND_BINARY,
			    .op = OP_AND,
			    .is_signed = true,
			    .a = site->condition};
	size_t i = site->at, f;

	if (!is_if(&insns[i], i + 2) || insns[i + 1].code != AGENT_GOTO)
		return NULL;
	f = insns[i + 1].target;
	if (f < i + 7 || f >= site->limit || !is_push(&insns[f], 0) ||
	    !is_goto(&insns[f - 1], f + 1) || !is_push(&insns[f - 2], 1) ||
	    !is_goto(&insns[f - 3], f) || !is_if(&insns[f - 4], f - 2))
		return NULL;
	site->end = f + 1;
	node.b = stretch(tree, i + 2, f - 4, site->nesting);
	return node.b ? make(tree, node) : NULL;
}

/* a || b:  if_goto T; b; if_goto T; 0; goto E; T: 1; E: */
static const struct node *match_or(struct tree *tree, struct site *site)
{
	const struct agent_insn *insns = tree->insns;
	struct node node = {.kind = KIND_BINARY,
			    .op = OP_OR,
			    .is_signed = true,
			    .a = site->condition};
	size_t i = site->at, t = insns[i].target;

	if (t < i + 5 || t >= site->limit || !is_push(&insns[t], 1) ||
	    !is_goto(&insns[t - 1], t + 1) || !is_push(&insns[t - 2], 0) ||
	    !is_if(&insns[t - 3], t))
		return NULL;
	site->end = t + 1;
	node.b = stretch(tree, i + 1, t - 3, site->nesting);
	return node.b ? make(tree, node) : NULL;
}

/* !a ? b : c, which gdb makes of a ? b : c:  if_goto C; b; goto E; C: c; E: */
static const struct node *match_cond(struct tree *tree, struct site *site)
{
	const struct agent_insn *insns = tree->insns;
	struct node node = {.kind = KIND_COND};
	size_t i = site->at, c = insns[i].target, e;

	if (c < i + 3 || c >= site->limit || insns[c - 1].code != AGENT_GOTO)
		return NULL;
	e = insns[c - 1].target;
	if (e <= c || e > site->limit)
		return NULL;
	site->end = e;
	node.a = negate_condition(tree, site->condition);
	node.b = stretch(tree, i + 1, c - 1, site->nesting);
	node.c = stretch(tree, c, e, site->nesting);
	return node.a && node.b && node.c ? make(tree, node) : NULL;
}

static bool match_shape(struct tree *tree, struct tree_stack *s, struct site *site)
{
	static const struct node *(*const matchers[])(struct tree *, struct site *) = {
		match_and, match_or, match_cond};

	if (s->depth == 0 || site->nesting-- == 0)
		return false;
	site->condition = s->cells[--s->depth];
	for (size_t i = 0; i < sizeof(matchers) / sizeof(matchers[0]); i++) {
		const struct node *node = matchers[i](tree, site);

		if (site->end > 0)
			return push(s, node);
	}
	return false;
}

/* What the operations from @from up to @to leave on the stack. */
static bool run_stretch(struct tree *tree, size_t from, size_t to, unsigned int nesting,
			struct tree_stack *s)
{
	s->depth = 0;
	for (size_t i = from; i < to;) {
		const struct agent_insn *insn = &tree->insns[i];
		struct site site = {.at = i, .limit = to, .nesting = nesting};

		if (insn->code == AGENT_END || insn->code == AGENT_GOTO)
			return false;
		if (insn->code != AGENT_IF_GOTO) {
			if (!apply(tree, s, insn))
				return false;
			i++;
		} else {
			if (!match_shape(tree, s, &site))
				return false;
			i = site.end;
		}
	}
	return true;
}

/* The one value that they leave, or NULL. */
static const struct node *stretch(struct tree *tree, size_t from, size_t to,
				  unsigned int nesting)
{
	struct tree_stack s = {0};

	if (!run_stretch(tree, from, to, nesting, &s))
		return NULL;
	return s.depth == 1 ? s.cells[0] : NULL;
}

int tree_init(struct tree *tree, const struct agent_expr *expr)
{
	*tree = (struct tree){0};
	tree->insns = agent_expr_insns(expr, &tree->count);
	/* No operation makes more than two nodes. */
	tree->capacity = 2 * tree->count;
	tree->pool = calloc(tree->capacity, sizeof(*tree->pool));
	return tree->pool ? 0 : -ENOMEM;
}

void tree_deinit(struct tree *tree)
{
	free(tree->pool);
}

bool tree_run(struct tree *tree, size_t from, size_t to, struct tree_stack *stack)
{
	return run_stretch(tree, from, to, NESTING_MAX, stack);
}

const struct node *tree_value(struct tree *tree, size_t from, size_t to)
{
	return stretch(tree, from, to, NESTING_MAX);
}
