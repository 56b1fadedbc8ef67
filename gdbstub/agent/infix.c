/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/infix.h"

#include <inttypes.h>
#include <string.h>

#include "agent/arith.h"
#include "agent/insn.h"
#include "arch/arch.h"

enum {
	TEXT_MAX = 2048, /* a longer text is not readable any more */
	NESTING_MAX = 100,
};

enum kind {
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

enum op {
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

/* C's precedences; a higher one binds tighter. */
enum { PREC_ASSIGN = 0, PREC_COND = 1, PREC_UNARY = 12, PREC_PRIMARY = 13 };

static const struct operator_def {
	const char *text;
	unsigned int precedence;
	enum op negated; /* of a comparison */
	enum op swapped;
} operators[] = {
	[OP_MUL] = {"*", 11, OP_NONE, OP_NONE},
	[OP_DIV] = {"/", 11, OP_NONE, OP_NONE},
	[OP_REM] = {"%", 11, OP_NONE, OP_NONE},
	[OP_ADD] = {"+", 10, OP_NONE, OP_NONE},
	[OP_SUB] = {"-", 10, OP_NONE, OP_NONE},
	[OP_LSH] = {"<<", 9, OP_NONE, OP_NONE},
	[OP_RSH] = {">>", 9, OP_NONE, OP_NONE},
	[OP_LT] = {"<", 8, OP_GE, OP_GT},
	[OP_LE] = {"<=", 8, OP_GT, OP_GE},
	[OP_GT] = {">", 8, OP_LE, OP_LT},
	[OP_GE] = {">=", 8, OP_LT, OP_LE},
	[OP_EQ] = {"==", 7, OP_NE, OP_EQ},
	[OP_NE] = {"!=", 7, OP_EQ, OP_NE},
	[OP_BIT_AND] = {"&", 6, OP_NONE, OP_NONE},
	[OP_BIT_XOR] = {"^", 5, OP_NONE, OP_NONE},
	[OP_BIT_OR] = {"|", 4, OP_NONE, OP_NONE},
	[OP_AND] = {"&&", 3, OP_NONE, OP_NONE},
	[OP_OR] = {"||", 2, OP_NONE, OP_NONE},
};

/* Which operator a code is, and whether C has to be told of the unsignedness. */
static const struct binary_def {
	enum op op;
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

struct node {
	enum kind kind;
	enum op op;
	bool is_signed;
	bool assigns; /* it, or a part of it: to be written once, and in its turn */
	uint64_t value;
	const struct node *a, *b, *c;
};

static bool assigns(const struct node *node)
{
	return node && node->assigns;
}

/* Every operation makes at most two nodes, so the pool never moves. */
struct builder {
	const struct agent_insn *insns;
	struct node *pool;
	size_t used, capacity;
};

/* The symbolic stack of one stretch of operations. */
struct symbols {
	const struct node *cells[AGENT_STACK_MAX];
	unsigned int depth;
};

static const struct node *make(struct builder *builder, struct node node)
{
	struct node *ret = &builder->pool[builder->used];

	if (builder->used == builder->capacity)
		return NULL;
	builder->used++;
	*ret = node;
	ret->assigns = node.kind == KIND_ASSIGN || assigns(node.a) || assigns(node.b) ||
		       assigns(node.c);
	return ret;
}

static const struct node *make_const(struct builder *builder, uint64_t value)
{
	return make(builder, (struct node){.kind = KIND_CONST, .value = value});
}

static bool push(struct symbols *s, const struct node *node)
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
static const struct node *make_sum(struct builder *builder, const struct node *sum)
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
	node.b = make_const(builder, node.op == OP_SUB ? -value : value);
	return node.b ? make(builder, node) : NULL;
}

static const struct node *make_binary(struct builder *builder, uint8_t code,
				      const struct node *a, const struct node *b)
{
	const struct binary_def *def = &binaries[code];
	struct node node = {.kind = KIND_BINARY,
			    .op = def->op,
			    .is_signed = !def->is_unsigned,
			    .a = a,
			    .b = b};

	/* "x > 3" rather than "3 < x" */
	if (operators[node.op].swapped != OP_NONE && a->kind == KIND_CONST &&
	    b->kind != KIND_CONST) {
		node.op = operators[node.op].swapped;
		node.a = b;
		node.b = a;
	}
	if (is_sum_with_const(&node))
		return make_sum(builder, &node);
	return make(builder, node);
}

static const struct node *make_extended(struct builder *builder,
					const struct agent_insn *insn,
					const struct node *a)
{
	bool is_signed = insn->code == AGENT_EXT;
	uint64_t bits = insn->operand < 64 ? insn->operand : 64;
	struct node node = {
		.kind = KIND_CAST, .value = bits, .a = a, .is_signed = is_signed};

	if (a->kind == KIND_CONST)
		return make_const(builder, agent_extend(insn->code, a->value, bits));
	if (a->kind == KIND_MEMORY && a->value == bits) {
		node = *a;
		node.is_signed = is_signed;
	} else if (bits == 64) {
		return a;
	}
	return make(builder, node);
}

static const struct node *make_not(struct builder *builder, const struct node *a)
{
	struct node node = *a;

	if (a->kind == KIND_BINARY && operators[a->op].negated != OP_NONE)
		node.op = operators[a->op].negated;
	else
		node = (struct node){.kind = KIND_UNARY, .op = OP_NOT, .a = a};
	return make(builder, node);
}

/* Where only zero or not matters, the negation of !a is a. */
static const struct node *negate_condition(struct builder *builder,
					   const struct node *a)
{
	return a->kind == KIND_UNARY && a->op == OP_NOT ? a->a : make_not(builder, a);
}

/* Would the operation lose an assignment, double it, or put it elsewhere? */
static bool moves_assignment(const struct symbols *s, const struct agent_insn *insn)
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

static bool shuffle(struct symbols *s, const struct agent_insn *insn)
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
static bool apply(struct builder *builder, struct symbols *s,
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
		return push(s,
			    make_binary(builder, insn->code, operands[0], operands[1]));
	case AGENT_CLASS_CONST:
		return push(s, make_const(builder, insn->operand));
	case AGENT_CLASS_EXTEND:
		return push(s, make_extended(builder, insn, operands[0]));
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
		return push(s, make_not(builder, operands[0]));
	if (insn->code == AGENT_REG)
		node = (struct node){.kind = KIND_REGISTER, .value = insn->operand};
	else if (opcode->pops > 0)
		node.a = operands[0];
	return push(s, make(builder, node));
}

static const struct node *stretch(struct builder *builder, size_t from, size_t to,
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
static const struct node *match_and(struct builder *builder, struct site *site)
{
	const struct agent_insn *insns = builder->insns;
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
	node.b = stretch(builder, i + 2, f - 4, site->nesting);
	return node.b ? make(builder, node) : NULL;
}

/* a || b:  if_goto T; b; if_goto T; 0; goto E; T: 1; E: */
static const struct node *match_or(struct builder *builder, struct site *site)
{
	const struct agent_insn *insns = builder->insns;
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
	node.b = stretch(builder, i + 1, t - 3, site->nesting);
	return node.b ? make(builder, node) : NULL;
}

/* !a ? b : c, which gdb makes of a ? b : c:  if_goto C; b; goto E; C: c; E: */
static const struct node *match_cond(struct builder *builder, struct site *site)
{
	const struct agent_insn *insns = builder->insns;
	struct node node = {.kind = KIND_COND};
	size_t i = site->at, c = insns[i].target, e;

	if (c < i + 3 || c >= site->limit || insns[c - 1].code != AGENT_GOTO)
		return NULL;
	e = insns[c - 1].target;
	if (e <= c || e > site->limit)
		return NULL;
	site->end = e;
	node.a = negate_condition(builder, site->condition);
	node.b = stretch(builder, i + 1, c - 1, site->nesting);
	node.c = stretch(builder, c, e, site->nesting);
	return node.a && node.b && node.c ? make(builder, node) : NULL;
}

static bool match_shape(struct builder *builder, struct symbols *s, struct site *site)
{
	static const struct node *(*const matchers[])(
		struct builder *, struct site *) = {match_and, match_or, match_cond};

	if (s->depth == 0 || site->nesting-- == 0)
		return false;
	site->condition = s->cells[--s->depth];
	for (size_t i = 0; i < sizeof(matchers) / sizeof(matchers[0]); i++) {
		const struct node *node = matchers[i](builder, site);

		if (site->end > 0)
			return push(s, node);
	}
	return false;
}

/* What the operations from @from up to @to leave on the stack. */
static bool run_stretch(struct builder *builder, size_t from, size_t to,
			unsigned int nesting, struct symbols *s)
{
	s->depth = 0;
	for (size_t i = from; i < to;) {
		const struct agent_insn *insn = &builder->insns[i];
		struct site site = {.at = i, .limit = to, .nesting = nesting};

		if (insn->code == AGENT_END || insn->code == AGENT_GOTO)
			return false;
		if (insn->code != AGENT_IF_GOTO) {
			if (!apply(builder, s, insn))
				return false;
			i++;
		} else {
			if (!match_shape(builder, s, &site))
				return false;
			i = site.end;
		}
	}
	return true;
}

/* The one value that they leave, or NULL. */
static const struct node *stretch(struct builder *builder, size_t from, size_t to,
				  unsigned int nesting)
{
	struct symbols s = {0};

	if (!run_stretch(builder, from, to, nesting, &s))
		return NULL;
	return s.depth == 1 ? s.cells[0] : NULL;
}

void agent_print_register(const struct arch_ops *arch, unsigned int number,
			  struct buffer *out)
{
	const struct reg_def *reg = arch ? reg_by_number(arch, number) : NULL;

	if (reg)
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

static bool print_condition(struct builder *builder, struct printer *p, size_t end)
{
	const struct node *root = stretch(builder, 0, end, NESTING_MAX);

	return root && print_node(p, root, 0, NESTING_MAX);
}

/* A command: its arguments, the last one first, channel and function, printf. */
static bool print_command(struct builder *builder, struct printer *p, size_t end)
{
	const struct agent_insn *insn = &builder->insns[end - 1];
	struct symbols s = {0};

	if (!run_stretch(builder, 0, end - 1, NESTING_MAX, &s) ||
	    s.depth != agent_insn_needs(insn))
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

bool agent_expr_infix(const struct agent_expr *expr, const struct arch_ops *arch,
		      struct buffer *out)
{
	size_t count;
	const struct agent_insn *insns = agent_expr_insns(expr, &count);
	_cleanup_free_ struct node *pool = calloc(count, 2 * sizeof(*pool));
	_cleanup_buffer_ struct buffer text = {0};
	struct builder builder = {insns, pool, 0, 2 * count};
	struct printer printer = {arch, &text, TEXT_MAX};
	bool ok;

	if (!pool || insns[count - 1].code != AGENT_END)
		return false;
	if (count > 1 && insns[count - 2].format)
		ok = print_command(&builder, &printer, count - 1);
	else
		ok = print_condition(&builder, &printer, count - 1);
	if (!ok || text.failed)
		return false;
	buffer_append(out, text.data, text.len);
	return true;
}
