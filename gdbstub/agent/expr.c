/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/agent/expr.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/agent/format.h"
#include "gdbstub/agent/insn.h"

struct agent_expr {
	unsigned int references;
	uint8_t *bytecode;
	size_t len;
	struct agent_insn *insns;
	size_t count;
	unsigned int max_depth;
	bool is_command;
	bool jumps_back;
};

static void cleanup_expr(struct agent_expr **expr)
{
	agent_expr_unref(*expr);
}

static struct error *out_of_memory(void)
{
	return error_create(0, "out of memory for an expression");
}

__attribute__((format(printf, 2, 3))) static struct error *
insn_error(const struct agent_insn *insn, const char *format, ...)
{
	const struct agent_opcode *opcode = agent_opcode(insn->code);
	_cleanup_free_ char *reason = NULL;
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(&reason, format, args);
	va_end(args);
	if (n < 0) {
		reason = NULL;
		return out_of_memory();
	}
	if (!opcode)
		return error_create(0, "offset %u: %s", insn->offset, reason);
	return error_create(0, "offset %u: %s: %s", insn->offset, opcode->name, reason);
}

/* Are all pieces known, and does each argument have its directive? */
static struct error *check_format(const struct agent_insn *insn)
{
	const char *format = insn->format;
	unsigned int directives = 0;
	struct format_piece piece = {0};

	do {
		const char *start = format;
		struct error *error = format_next(&format, &piece);

		if (error)
			return error_prefix(error,
					    "offset %u: printf: format, byte %td",
					    insn->offset, start - insn->format);
		directives += piece.kind != FORMAT_END && piece.kind != FORMAT_TEXT;
	} while (piece.kind != FORMAT_END);
	if (directives != insn->operand)
		return insn_error(insn, "%u arguments for %u directives",
				  (unsigned int)insn->operand, directives);
	return NULL;
}

/* The format after printf's operand: two bytes of length, and the text with its
 * NUL. *next moves past it. */
static struct error *decode_format(const struct agent_expr *expr,
				   struct agent_insn *insn, uint32_t *next)
{
	const uint8_t *p = expr->bytecode + *next;
	size_t left = expr->len - *next, len;

	if (left < 2)
		return insn_error(insn, "the length of its format is cut off");
	len = (size_t)p[0] << 8 | p[1];
	if (len > left - 2)
		return insn_error(insn, "its format of %zu bytes is cut off", len);
	if (len == 0 || memchr(p + 2, '\0', len) != p + 2 + len - 1)
		return insn_error(insn, "the NUL of its format is not its last byte");
	insn->format = (const char *)p + 2;
	*next += 2 + (uint32_t)len;
	return check_format(insn);
}

/* Decodes the operation at insn->offset; *next is the offset after it. */
static struct error *decode_insn(const struct agent_expr *expr, struct agent_insn *insn,
				 uint32_t *next)
{
	const struct agent_opcode *opcode;

	insn->code = expr->bytecode[insn->offset];
	insn->depth = AGENT_UNREACHED;
	opcode = agent_opcode(insn->code);
	if (!opcode)
		return insn_error(insn, "unknown operation 0x%02x", insn->code);
	if (opcode->refused &&
	    !(expr->is_command && opcode->class == AGENT_CLASS_PRINT))
		return insn_error(insn, "%s", opcode->refused);
	*next = insn->offset + 1 + opcode->operand;
	if (*next > expr->len)
		return insn_error(insn, "its operand of %u bytes is cut off",
				  opcode->operand);
	for (uint32_t i = insn->offset + 1; i < *next; i++)
		insn->operand = insn->operand << 8 | expr->bytecode[i];
	if (insn->code == AGENT_EXT && insn->operand == 0)
		return insn_error(insn, "sign extension from 0 bits");
	if (opcode->class == AGENT_CLASS_PRINT)
		return decode_format(expr, insn, next);
	return NULL;
}

static struct error *decode(struct agent_expr *expr)
{
	/* One byte is the least that an operation takes. */
	expr->insns = calloc(expr->len, sizeof(*expr->insns));
	if (!expr->insns)
		return out_of_memory();
	for (uint32_t offset = 0; offset < expr->len; expr->count++) {
		struct agent_insn *insn = &expr->insns[expr->count];
		struct error *error;

		insn->offset = offset;
		error = decode_insn(expr, insn, &offset);
		if (error)
			return error;
	}
	return NULL;
}

static int compare_offset(const void *key, const void *element)
{
	uint64_t offset = *(const uint64_t *)key;
	const struct agent_insn *insn = element;

	return offset < insn->offset ? -1 : offset > insn->offset;
}

static struct error *resolve_jumps(struct agent_expr *expr)
{
	for (size_t i = 0; i < expr->count; i++) {
		struct agent_insn *insn = &expr->insns[i];
		const struct agent_insn *target;

		if (agent_opcode(insn->code)->class != AGENT_CLASS_JUMP)
			continue;
		if (insn->operand >= expr->len)
			return insn_error(insn, "jumps to %u, beyond the end",
					  (unsigned int)insn->operand);
		target = bsearch(&insn->operand, expr->insns, expr->count,
				 sizeof(*insn), compare_offset);
		if (!target)
			return insn_error(insn, "jumps to %u, into an operand",
					  (unsigned int)insn->operand);
		insn->target = (uint32_t)(target - expr->insns);
	}
	return NULL;
}

/* The operations that were reached and whose successors are to be visited. */
struct worklist {
	uint32_t *items;
	size_t count;
};

/* Control flows from @from to the operation @to with @depth cells. */
static struct error *flow(struct agent_expr *expr, struct worklist *work,
			  const struct agent_insn *from, size_t to, unsigned int depth)
{
	struct agent_insn *insn;

	if (to >= expr->count)
		return insn_error(from, "the expression runs past its last byte");
	insn = &expr->insns[to];
	if (insn->depth == AGENT_UNREACHED) {
		insn->depth = (int16_t)depth;
		work->items[work->count++] = (uint32_t)to;
		return NULL;
	}
	if ((unsigned int)insn->depth != depth)
		return insn_error(insn,
				  "reached with %d and with %u cells on the stack",
				  insn->depth, depth);
	return NULL;
}

unsigned int agent_insn_needs(const struct agent_insn *insn)
{
	const struct agent_opcode *opcode = agent_opcode(insn->code);

	if (insn->code == AGENT_PICK)
		return (unsigned int)insn->operand + 1;
	if (opcode->class == AGENT_CLASS_PRINT)
		return (unsigned int)insn->operand + opcode->pops;
	return opcode->pops;
}

static struct error *visit(struct agent_expr *expr, struct worklist *work, size_t index)
{
	const struct agent_insn *insn = &expr->insns[index];
	const struct agent_opcode *opcode = agent_opcode(insn->code);
	unsigned int depth = (unsigned int)insn->depth;
	unsigned int needs = agent_insn_needs(insn);
	struct error *error = NULL;

	if (insn->code == AGENT_END && expr->is_command)
		return NULL;
	if (depth < needs)
		return insn_error(insn, "needs a stack depth of %u, it is %u", needs,
				  depth);
	if (insn->code == AGENT_END)
		return NULL;
	if (opcode->class == AGENT_CLASS_PRINT)
		depth -= (unsigned int)insn->operand;
	depth = depth - opcode->pops + opcode->pushes;
	if (depth > AGENT_STACK_MAX)
		return insn_error(insn, "more than %d cells on the stack",
				  AGENT_STACK_MAX);
	if (depth > expr->max_depth)
		expr->max_depth = depth;
	if (opcode->class == AGENT_CLASS_JUMP) {
		expr->insns[insn->target].leader = true;
		if (insn->target <= index)
			expr->jumps_back = expr->insns[insn->target].loops = true;
		error = flow(expr, work, insn, insn->target, depth);
	}
	if (!error && insn->code != AGENT_GOTO)
		error = flow(expr, work, insn, index + 1, depth);
	return error;
}

/* Each operation enters the list once: when it is reached first. */
static struct error *check_stack(struct agent_expr *expr)
{
	_cleanup_free_ uint32_t *items = calloc(expr->count, sizeof(*items));
	struct worklist work = {items, 0};

	if (!items)
		return out_of_memory();
	expr->insns[0].depth = 0;
	items[work.count++] = 0;
	while (work.count > 0) {
		struct error *error = visit(expr, &work, items[--work.count]);

		if (error)
			return error;
	}
	return NULL;
}

static struct error *create(const void *bytecode, size_t len, bool is_command,
			    struct agent_expr **ret)
{
	_cleanup_(cleanup_expr) struct agent_expr *expr = NULL;
	struct error *error;

	if (len == 0)
		return error_create(0, "the expression is empty");
	if (len > AGENT_LENGTH_MAX)
		return error_create(0, "the expression has %zu bytes, more than %d",
				    len, AGENT_LENGTH_MAX);
	expr = calloc(1, sizeof(*expr));
	if (!expr)
		return out_of_memory();
	expr->references = 1;
	expr->is_command = is_command;
	expr->len = len;
	expr->bytecode = malloc(len);
	if (!expr->bytecode)
		return out_of_memory();
	memcpy(expr->bytecode, bytecode, len);
	error = decode(expr);
	if (!error)
		error = resolve_jumps(expr);
	if (!error)
		error = check_stack(expr);
	if (error)
		return error;
	*ret = take_ptr(expr);
	return NULL;
}

struct error *agent_expr_create(const void *bytecode, size_t len,
				struct agent_expr **ret)
{
	return create(bytecode, len, false, ret);
}

struct error *agent_expr_create_command(const void *bytecode, size_t len,
					struct agent_expr **ret)
{
	return create(bytecode, len, true, ret);
}

struct agent_expr *agent_expr_ref(struct agent_expr *expr)
{
	expr->references++;
	return expr;
}

void agent_expr_unref(struct agent_expr *expr)
{
	if (!expr || --expr->references > 0)
		return;
	free(expr->bytecode);
	free(expr->insns);
	free(expr);
}

const uint8_t *agent_expr_bytecode(const struct agent_expr *expr, size_t *len)
{
	*len = expr->len;
	return expr->bytecode;
}

bool agent_expr_equal(const struct agent_expr *a, const struct agent_expr *b)
{
	return a->len == b->len && memcmp(a->bytecode, b->bytecode, a->len) == 0;
}

const struct agent_insn *agent_expr_insns(const struct agent_expr *expr, size_t *count)
{
	*count = expr->count;
	return expr->insns;
}

unsigned int agent_expr_max_depth(const struct agent_expr *expr)
{
	return expr->max_depth;
}

bool agent_expr_is_command(const struct agent_expr *expr)
{
	return expr->is_command;
}

bool agent_expr_jumps_back(const struct agent_expr *expr)
{
	return expr->jumps_back;
}
