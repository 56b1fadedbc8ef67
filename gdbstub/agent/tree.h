/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An expression as a tree, for what writes it down (infix.c). There is one only if the
 * control flow has the shapes that gdb gives to &&, || and ?:.
 */
#ifndef TRUEHIT_AGENT_TREE_H
#define TRUEHIT_AGENT_TREE_H

#include "gdbstub/agent/insn.h"

enum node_kind {
	KIND_CONST,    /* value */
	KIND_REGISTER, /* value: its number */
	KIND_MEMORY,   /* value: its bits; a: address; is_signed */
	KIND_CAST,     /* value: bits; a; is_signed */
	KIND_UNARY,    /* op, a */
	KIND_BINARY,   /* op, a, b; is_signed */
	KIND_COND,     /* a ? b : c */
	KIND_VARIABLE, /* value: its number */
	KIND_ASSIGN,   /* value: the variable's number; a */
};

enum node_op {
	OP_MUL,
	OP_DIV,
	OP_REM,
	OP_ADD,
	OP_SUB,
	OP_LSH,
	OP_RSH,
	OP_LT,
	OP_LE,
	OP_GT,
	OP_GE,
	OP_EQ,
	OP_NE,
	OP_BIT_AND,
	OP_BIT_XOR,
	OP_BIT_OR,
	OP_AND,
	OP_OR,
	OP_NOT,
	OP_BIT_NOT,
	OP_NONE,
};

struct node {
	enum node_kind kind;
	enum node_op op;
	bool is_signed;
	bool assigns; /* it, or a part of it: to be written once, and in its turn */
	uint64_t value;
	const struct node *a, *b, *c;
};

/** Owns the nodes: as many as there can be, so that they never move. */
struct tree {
	const struct agent_insn *insns;
	size_t count;
	struct node *pool;
	size_t used, capacity;
};

/** The symbolic stack of one stretch of operations. */
struct tree_stack {
	const struct node *cells[AGENT_STACK_MAX];
	unsigned int depth;
};

/** An empty tree of the expression, which must stay: 0, or -ENOMEM. */
int tree_init(struct tree *tree, const struct agent_expr *expr);
void tree_deinit(struct tree *tree);
/** What the operations from @from up to @to leave on the stack; false: it is none of
 * gdb's shapes. */
bool tree_run(struct tree *tree, size_t from, size_t to, struct tree_stack *stack);
/** The one value that they leave, or NULL. */
const struct node *tree_value(struct tree *tree, size_t from, size_t to);

#endif
