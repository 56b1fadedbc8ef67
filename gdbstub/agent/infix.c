/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/agent/infix.h"

#include <inttypes.h>

#include "gdbstub/agent/expr.h"
#include "gdbstub/agent/scope.h"
#include "gdbstub/agent/tree.h"
#include "arch/arch.h"
#include "arch/register_table.h"

enum {
	TEXT_MAX = 2048, /* a longer text is not readable any more */
	NESTING_MAX = 100,
};

/* C's precedences; a higher one binds tighter. */
enum { PREC_ASSIGN = 0, PREC_COND = 1, PREC_UNARY = 12, PREC_PRIMARY = 13 };

static const struct operator_def {
	const char *text;
	unsigned int precedence;
} operators[] = {
	[OP_MUL] = {"*", 11},	[OP_DIV] = {"/", 11},	 [OP_REM] = {"%", 11},
	[OP_ADD] = {"+", 10},	[OP_SUB] = {"-", 10},	 [OP_LSH] = {"<<", 9},
	[OP_RSH] = {">>", 9},	[OP_LT] = {"<", 8},	 [OP_LE] = {"<=", 8},
	[OP_GT] = {">", 8},	[OP_GE] = {">=", 8},	 [OP_EQ] = {"==", 7},
	[OP_NE] = {"!=", 7},	[OP_BIT_AND] = {"&", 6}, [OP_BIT_XOR] = {"^", 5},
	[OP_BIT_OR] = {"|", 4}, [OP_AND] = {"&&", 3},	 [OP_OR] = {"||", 2},
};

void agent_print_register(const struct arch_ops *arch, unsigned int number,
			  struct buffer *out)
{
	const struct reg_def *reg = arch ? reg_by_number(arch, number) : NULL;

	if (number == AGENT_REG_THREAD)
		buffer_append_string(out, "$tid");
	else if (reg)
		buffer_printf(out, "$%s", reg->name);
	else
		buffer_printf(out, "$r%u", number);
}

struct printer {
	const struct arch_ops *arch;
	struct buffer *out;
	size_t limit; /* out->len at which the text is too long */
};

static bool print_node(struct printer *p, const struct node *node,
		       unsigned int precedence, unsigned int nesting);

static bool print_const(struct printer *p, uint64_t value)
{
	int64_t number = (int64_t)value;

	if (number == (int32_t)number)
		buffer_printf(p->out, "%" PRId64, number);
	else
		buffer_printf(p->out, "0x%" PRIx64, value);
	return true;
}

static bool is_offset(const struct node *node)
{
	return node->kind == KIND_BINARY && node->a->kind == KIND_REGISTER &&
	       node->b->kind == KIND_CONST &&
	       (node->op == OP_ADD || node->op == OP_SUB);
}

static bool print_memory(struct printer *p, const struct node *node,
			 unsigned int nesting)
{
	const struct node *address = node->a;
	bool ok = true;

	buffer_printf(p->out, "(%c%u)", node->is_signed ? 's' : 'u',
		      (unsigned int)node->value);
	if (address->kind == KIND_REGISTER) {
		ok = print_node(p, address, PREC_PRIMARY, nesting);
		buffer_append_string(p->out, "[0]");
		return ok;
	}
	if (is_offset(address)) {
		ok = print_node(p, address->a, PREC_PRIMARY, nesting);
		buffer_printf(p->out, "[%s", address->op == OP_SUB ? "-" : "");
		ok = ok && print_const(p, address->b->value);
	} else if (address->kind == KIND_CONST) {
		buffer_printf(p->out, "[0x%" PRIx64, address->value);
	} else {
		buffer_append_char(p->out, '[');
		ok = print_node(p, address, 0, nesting);
	}
	buffer_append_char(p->out, ']');
	return ok;
}

static bool print_binary(struct printer *p, const struct node *node,
			 unsigned int nesting)
{
	const struct operator_def *op = &operators[node->op];
	unsigned int left = op->precedence;

	if (!node->is_signed) {
		buffer_append_string(p->out, "(u64)");
		left = PREC_UNARY;
	}
	if (!print_node(p, node->a, left, nesting))
		return false;
	buffer_printf(p->out, " %s ", op->text);
	return print_node(p, node->b, op->precedence + 1, nesting);
}

static bool print_bare(struct printer *p, const struct node *node, unsigned int nesting)
{
	switch (node->kind) {
	case KIND_CONST:
		return print_const(p, node->value);
	case KIND_REGISTER:
		agent_print_register(p->arch, (unsigned int)node->value, p->out);
		return true;
	case KIND_MEMORY:
		return print_memory(p, node, nesting);
	case KIND_CAST:
		buffer_printf(p->out, "(%c%u)", node->is_signed ? 's' : 'u',
			      (unsigned int)node->value);
		return print_node(p, node->a, PREC_UNARY, nesting);
	case KIND_UNARY:
		buffer_append_char(p->out, node->op == OP_NOT ? '!' : '~');
		return print_node(p, node->a, PREC_UNARY, nesting);
	case KIND_BINARY:
		return print_binary(p, node, nesting);
	case KIND_COND:
		if (!print_node(p, node->a, PREC_COND + 1, nesting))
			return false;
		buffer_append_string(p->out, " ? ");
		if (!print_node(p, node->b, 0, nesting))
			return false;
		buffer_append_string(p->out, " : ");
		return print_node(p, node->c, PREC_COND, nesting);
	case KIND_VARIABLE:
		buffer_printf(p->out, "$tsv%" PRIu64, node->value);
		return true;
	case KIND_ASSIGN:
		buffer_printf(p->out, "$tsv%" PRIu64 " = ", node->value);
		return print_node(p, node->a, PREC_ASSIGN, nesting);
	}
	return false;
}

static unsigned int precedence_of(const struct node *node)
{
	if (node->kind == KIND_ASSIGN)
		return PREC_ASSIGN;
	if (node->kind == KIND_COND)
		return PREC_COND;
	if (node->kind == KIND_BINARY)
		return operators[node->op].precedence;
	if (node->kind == KIND_CAST || node->kind == KIND_UNARY)
		return PREC_UNARY;
	return PREC_PRIMARY;
}

static bool print_node(struct printer *p, const struct node *node,
		       unsigned int precedence, unsigned int nesting)
{
	bool parentheses = precedence_of(node) < precedence;
	bool ok;

	if (nesting == 0 || p->out->len > p->limit || p->out->failed)
		return false;
	if (parentheses)
		buffer_append_char(p->out, '(');
	ok = print_bare(p, node, nesting - 1);
	if (parentheses)
		buffer_append_char(p->out, ')');
	return ok;
}

void agent_print_format(const char *format, struct buffer *out)
{
	buffer_append_char(out, '"');
	for (; *format != '\0'; format++)
		buffer_append_char(out,
				   *format >= ' ' && *format <= '~' ? *format : '?');
	buffer_append_char(out, '"');
}

static bool print_condition(struct tree *tree, struct printer *p, size_t end)
{
	const struct node *root = tree_value(tree, 0, end);

	return root && print_node(p, root, 0, NESTING_MAX);
}

/* A command: its arguments, the last one first, channel and function, printf. */
static bool print_command(struct tree *tree, struct printer *p, size_t end)
{
	const struct agent_insn *insn = &tree->insns[end - 1];
	struct tree_stack s = {0};

	if (!tree_run(tree, 0, end - 1, &s) || s.depth != agent_insn_needs(insn))
		return false;
	buffer_append_string(p->out, "printf ");
	agent_print_format(insn->format, p->out);
	for (s.depth -= 2; s.depth > 0; s.depth--) {
		buffer_append_string(p->out, ", ");
		if (!print_node(p, s.cells[s.depth - 1], 0, NESTING_MAX))
			return false;
	}
	return true;
}

/* "address of a local variable != where it is watched || condition": the register that
 * tells frames apart has to have *value. The condition, or NULL. */
static const struct node *of_one_frame(const struct node *root, unsigned int *reg,
				       uint64_t *value)
{
	const struct node *other = root->a, *place;

	if (root->kind != KIND_BINARY || root->op != OP_OR ||
	    other->kind != KIND_BINARY || other->op != OP_NE ||
	    other->b->kind != KIND_CONST)
		return NULL;
	place = other->a;
	*value = other->b->value;
	if (is_offset(place)) {
		*value += place->op == OP_SUB ? place->b->value : -place->b->value;
		place = place->a;
	}
	*reg = (unsigned int)place->value;
	return place->kind == KIND_REGISTER ? root->b : NULL;
}

static bool print_scoped(struct tree *tree, struct printer *p,
			 const struct agent_scope *scope)
{
	const struct node *root = tree_value(tree, scope->body, tree->count - 1);
	const struct node *condition = NULL;
	unsigned int reg = 0;
	uint64_t value = 0;

	if (root)
		condition = of_one_frame(root, &reg, &value);
	if (!root || !print_node(p, condition ? condition : root, 0, NESTING_MAX))
		return false;
	buffer_append_string(p->out, ", where ");
	agent_print_register(p->arch, scope->reg, p->out);
	buffer_printf(p->out, " is 0x%" PRIx64 " to 0x%" PRIx64, scope->first,
		      scope->last);
	if (condition) {
		buffer_append_string(p->out, " and ");
		agent_print_register(p->arch, reg, p->out);
		buffer_printf(p->out, " is 0x%" PRIx64, value);
	}
	buffer_append_string(p->out, "; elsewhere gdb decides");
	return true;
}

static bool print_tree(struct tree *tree, struct printer *p)
{
	size_t end = tree->count - 1;
	struct agent_scope scope;

	if (tree->insns[end].code != AGENT_END)
		return false;
	if (end > 0 && tree->insns[end - 1].format)
		return print_command(tree, p, end);
	if (agent_scope_find(tree->insns, tree->count, &scope))
		return print_scoped(tree, p, &scope);
	return print_condition(tree, p, end);
}

bool agent_expr_infix(const struct agent_expr *expr, const struct arch_ops *arch,
		      struct buffer *out)
{
	_cleanup_buffer_ struct buffer text = {0};
	_cleanup_(tree_deinit) struct tree tree;
	struct printer printer = {arch, &text, TEXT_MAX};

	if (tree_init(&tree, expr) < 0 || !print_tree(&tree, &printer) || text.failed)
		return false;
	buffer_append(out, text.data, text.len);
	return true;
}
