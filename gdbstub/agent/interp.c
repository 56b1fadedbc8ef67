/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/agent/interp.h"

#include "gdbstub/agent/expr.h"

#include <inttypes.h>
#include <string.h>

#include "gdbstub/agent/arith.h"
#include "gdbstub/agent/format.h"
#include "gdbstub/agent/insn.h"

enum {
	STRING_MAX = 64 << 10, /* bytes shown of a string without an end */
	STRING_CHUNK = 256,    /* read at a time; no page ends inside of one */
};

/* The check has made sure that no operation under- or overflows the stack. */
struct machine {
	const struct agent_context *context;
	uint64_t stack[AGENT_STACK_MAX];
	unsigned int depth;
};

static void push(struct machine *m, uint64_t value)
{
	m->stack[m->depth++] = value;
}

static uint64_t pop(struct machine *m)
{
	return m->stack[--m->depth];
}

static struct error *arith(struct machine *m, uint8_t code)
{
	uint64_t b = pop(m);
	uint64_t a = pop(m);
	uint64_t result;

	if (agent_arith(code, a, b, &result) < 0)
		return error_create(0, "division by zero");
	push(m, result);
	return NULL;
}

static struct error *read_memory(struct machine *m, unsigned int size)
{
	uint64_t addr = pop(m);
	union {
		uint8_t u8;
		uint16_t u16;
		uint32_t u32;
		uint64_t u64;
	} value;
	int r = m->context->read_memory(m->context->data, addr, &value, size);

	if (r < 0)
		return error_create(-r, "cannot read %u bytes at 0x%" PRIx64, size,
				    addr);
	push(m, size == 1   ? value.u8
		: size == 2 ? value.u16
		: size == 4 ? value.u32
			    : value.u64);
	return NULL;
}

static struct error *read_register(struct machine *m, unsigned int number)
{
	uint64_t value;
	int r = m->context->read_register(m->context->data, number, &value);

	if (r < 0)
		return error_create(-r, "cannot read register %u", number);
	push(m, value);
	return NULL;
}

/* getv, or setv, which leaves the value where it is. */
static struct error *access_variable(struct machine *m, const struct agent_insn *insn)
{
	const struct agent_context *context = m->context;
	unsigned int number = (unsigned int)insn->operand;
	uint64_t value = 0;
	int r;

	if (!context->read_variable || !context->write_variable)
		return error_create(0, "there are no trace state variables here");
	if (insn->code == AGENT_SETV)
		r = context->write_variable(context->data, number,
					    m->stack[m->depth - 1]);
	else
		r = context->read_variable(context->data, number, &value);
	if (r < 0)
		return error_create(-r, "trace state variable %u", number);
	if (insn->code == AGENT_GETV)
		push(m, value);
	return NULL;
}

static void shuffle(struct machine *m, const struct agent_insn *insn)
{
	uint64_t *top = &m->stack[m->depth - 1];
	uint64_t saved = *top;

	switch (insn->code) {
	case AGENT_DUP:
		push(m, saved);
		break;
	case AGENT_POP:
		m->depth--;
		break;
	case AGENT_SWAP:
		top[0] = top[-1];
		top[-1] = saved;
		break;
	case AGENT_PICK:
		push(m, top[-(ptrdiff_t)insn->operand]);
		break;
	case AGENT_ROT:
		top[0] = top[-1];
		top[-1] = top[-2];
		top[-2] = saved;
		break;
	}
}

/* Appends the string at @addr: up to its NUL, or @max bytes. */
static struct error *read_string(struct machine *m, uint64_t addr, size_t max,
				 struct buffer *out)
{
	while (max > 0) {
		char chunk[STRING_CHUNK];
		size_t len = STRING_CHUNK - addr % STRING_CHUNK;
		const char *end;
		int r;

		len = len < max ? len : max;
		r = m->context->read_memory(m->context->data, addr, chunk, len);
		if (r < 0)
			return error_create(-r, "cannot read a string at 0x%" PRIx64,
					    addr);
		end = memchr(chunk, '\0', len);
		buffer_append(out, chunk, end ? (size_t)(end - chunk) : len);
		if (end)
			break;
		addr += len;
		max -= len;
	}
	return NULL;
}

static struct error *print_string(struct machine *m, const struct format_piece *piece,
				  uint64_t addr, struct buffer *out)
{
	struct buffer string _cleanup_buffer_ = {0};
	bool bounded = piece->precision >= 0;
	struct error *error = NULL;

	if (addr == 0)
		buffer_append_string(&string, "(null)");
	else
		error = read_string(m, addr,
				    bounded ? (size_t)piece->precision : STRING_MAX,
				    &string);
	if (error)
		return error;
	if (!bounded && string.len == STRING_MAX)
		buffer_append_string(&string, "...");
	out->failed |= string.failed;
	format_string(piece, buffer_string(&string), string.len, out);
	return NULL;
}

/* gdb pushes the last argument first, and at last the channel and the function,
 * which mean nothing here. */
static struct error *print(struct machine *m, const struct agent_insn *insn)
{
	struct buffer text _cleanup_buffer_ = {0};
	const char *format = insn->format;

	m->depth -= 2;
	for (;;) {
		struct format_piece piece;
		struct error *error = format_next(&format, &piece);

		if (!error && piece.kind == FORMAT_END)
			break;
		if (!error && piece.kind == FORMAT_TEXT)
			buffer_append(&text, piece.text, piece.len);
		else if (!error && piece.kind == FORMAT_STRING)
			error = print_string(m, &piece, pop(m), &text);
		else if (!error)
			format_value(&piece, pop(m), &text);
		if (error)
			return error;
	}
	if (text.failed)
		return error_create(0, "out of memory");
	m->context->print(m->context->data, buffer_string(&text), text.len);
	return NULL;
}

/* Everything that does not change the flow of control. */
static struct error *execute(struct machine *m, const struct agent_insn *insn)
{
	const struct agent_opcode *opcode = agent_opcode(insn->code);

	switch (opcode->class) {
	case AGENT_CLASS_ARITH:
	case AGENT_CLASS_COMPARE:
		return arith(m, insn->code);
	case AGENT_CLASS_CONST:
		push(m, insn->operand);
		return NULL;
	case AGENT_CLASS_REF:
		return read_memory(m, opcode->size);
	case AGENT_CLASS_SHUFFLE:
		shuffle(m, insn);
		return NULL;
	case AGENT_CLASS_EXTEND:
		push(m, agent_extend(insn->code, pop(m), insn->operand));
		return NULL;
	case AGENT_CLASS_VARIABLE:
		return access_variable(m, insn);
	case AGENT_CLASS_TRACE:
		m->depth = m->depth - opcode->pops + opcode->pushes;
		return NULL;
	case AGENT_CLASS_PRINT:
		return print(m, insn);
	}
	switch (insn->code) {
	case AGENT_LOG_NOT:
		push(m, !pop(m));
		return NULL;
	case AGENT_BIT_NOT:
		push(m, ~pop(m));
		return NULL;
	default: /* AGENT_REG */
		return read_register(m, (unsigned int)insn->operand);
	}
}

struct error *agent_expr_evaluate(const struct agent_expr *expr,
				  const struct agent_context *context, uint64_t *result)
{
	struct machine m = {.context = context};
	size_t count, pc = 0;
	const struct agent_insn *insns = agent_expr_insns(expr, &count);

	for (unsigned int steps = 0; steps < AGENT_STEPS_MAX; steps++) {
		const struct agent_insn *insn = &insns[pc++];
		struct error *error;

		switch (insn->code) {
		case AGENT_END:
			*result = m.depth > 0 ? pop(&m) : 0;
			return NULL;
		case AGENT_GOTO:
			pc = insn->target;
			break;
		case AGENT_IF_GOTO:
			if (pop(&m) != 0)
				pc = insn->target;
			break;
		default:
			error = execute(&m, insn);
			if (error)
				return error_prefix(error, "offset %u: %s",
						    insn->offset,
						    agent_opcode(insn->code)->name);
		}
	}
	return error_create(0, "more than %d operations: the expression loops",
			    AGENT_STEPS_MAX);
}
