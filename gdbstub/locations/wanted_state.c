/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/locations/wanted_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/agent/insn.h"
#include "gdbstub/base/cleanup.h"
#include "arch/arch.h"

enum { TERMS_MAX = 64 };

struct wanted_state {
	unsigned int count;
	struct term {
		unsigned int number; /* of the register */
		uint64_t value;
	} terms[TERMS_MAX];
};

/* ---- the text ---- */

static int find_register(const struct arch_ops *arch, const char *name, size_t len)
{
	unsigned int count;
	const struct reg_def *registers = arch->registers(&count);

	for (unsigned int i = 0; i < count; i++)
		if (strlen(registers[i].name) == len && registers[i].bits <= 64 &&
		    memcmp(registers[i].name, name, len) == 0)
			return (int)i;
	return -ENOENT;
}

/* A register of fewer bits is extended by zeroes. */
static bool parse_value(const char *text, const char *end, unsigned int bits,
			uint64_t *value)
{
	const uint64_t mask = UINT64_MAX >> (64 - bits);
	char *last;

	errno = 0;
	if (*text == '-')
		*value = (uint64_t)strtoll(text, &last, 0) & mask;
	else
		*value = strtoull(text, &last, 0);
	return last > text && last == end && errno == 0 && *value <= mask;
}

/* "rdi=5", up to @end */
static struct error *parse_term(const struct arch_ops *arch, const char *text,
				const char *end, struct term *term)
{
	const int len = (int)(end - text);
	const char *sign = memchr(text, '=', (size_t)len);
	unsigned int count, bits;
	int number;

	if (!sign)
		return error_create(0, "expected REGISTER=VALUE, not '%.*s'", len,
				    text);
	number = find_register(arch, text, (size_t)(sign - text));
	if (number < 0)
		return error_create(0, "there is no register '%.*s' of up to 64 bits",
				    (int)(sign - text), text);
	term->number = (unsigned int)number;
	bits = arch->registers(&count)[number].bits;
	if (!parse_value(sign + 1, end, bits, &term->value))
		return error_create(0, "expected a number of %u bits, not '%.*s'", bits,
				    (int)(end - sign - 1), sign + 1);
	return NULL;
}

static struct error *parse(const struct arch_ops *arch, const char *text,
			   struct wanted_state *state)
{
	struct error *error = NULL;

	while (!error && *(text += strspn(text, " \t")) != '\0') {
		const char *end = text + strcspn(text, " \t");

		if (state->count == TERMS_MAX)
			return error_create(0, "more than %d registers", TERMS_MAX);
		error = parse_term(arch, text, end, &state->terms[state->count++]);
		text = end;
	}
	if (!error && state->count == 0)
		return error_create(0, "expected REGISTER=VALUE...");
	return error;
}

struct error *wanted_state_create(const struct arch_ops *arch, const char *text,
				  struct wanted_state **ret)
{
	struct wanted_state *state = calloc(1, sizeof(*state));
	struct error *error;

	if (!state)
		return error_create(ENOMEM, "a state");
	error = parse(arch, text, state);
	if (error)
		wanted_state_destroy(state);
	else
		*ret = state;
	return error;
}

struct wanted_state *wanted_state_copy(const struct wanted_state *state)
{
	struct wanted_state *copy = state ? malloc(sizeof(*copy)) : NULL;

	if (copy)
		*copy = *state;
	return copy;
}

void wanted_state_destroy(struct wanted_state *state)
{
	free(state);
}

/* ---- its conditions ---- */

static void append_number(struct buffer *code, uint64_t number, unsigned int bytes)
{
	while (bytes-- > 0)
		buffer_append_char(code, (char)(number >> 8 * bytes));
}

/*
 * What gdb makes of a && b (ax-gdb.c, gen_expr), so that it is shown as one writes it:
 * a; if_goto L; goto F; L: b; if_goto T; goto F; T: const8 1; goto E; F: const8 0; E:
 */
enum { TEST_BYTES = 3 + 3, TRUE_BYTES = 2 + 3, FALSE_BYTES = 2 };

static void append_jump(uint8_t jump, size_t to, struct buffer *code)
{
	buffer_append_char(code, (char)jump);
	append_number(code, to, 2);
}

static void append_test(size_t otherwise, struct buffer *code)
{
	append_jump(AGENT_IF_GOTO, code->len + TEST_BYTES, code);
	append_jump(AGENT_GOTO, otherwise, code);
}

static void append_result(bool result, struct buffer *code)
{
	buffer_append_char(code, AGENT_CONST8);
	buffer_append_char(code, result);
}

/* && with what takes so many bytes, and is to be appended. Returns F, for end_and(). */
static size_t begin_and(size_t bytes, struct buffer *code)
{
	const size_t otherwise = code->len + 2 * TEST_BYTES + bytes + TRUE_BYTES;

	append_test(otherwise, code);
	return otherwise;
}

static void end_and(size_t otherwise, struct buffer *code)
{
	append_test(otherwise, code);
	append_result(true, code);
	append_jump(AGENT_GOTO, otherwise + FALSE_BYTES, code);
	append_result(false, code);
}

enum { TERM_BYTES = 3 + 9 + 1 };

static void append_term(const struct term *term, struct buffer *code)
{
	buffer_append_char(code, AGENT_REG);
	append_number(code, term->number, 2);
	buffer_append_char(code, AGENT_CONST64);
	append_number(code, term->value, 8);
	buffer_append_char(code, AGENT_EQUAL);
}

static void append_terms(const struct wanted_state *state, struct buffer *code)
{
	for (unsigned int i = 0; i < state->count; i++) {
		const size_t otherwise = i > 0 ? begin_and(TERM_BYTES, code) : 0;

		append_term(&state->terms[i], code);
		if (i > 0)
			end_and(otherwise, code);
	}
}

/* All but the `end`; jumps lead to the same. */
static void append_moved(const struct agent_expr *expr, size_t len, struct buffer *code)
{
	const size_t distance = code->len;
	size_t count, at = 0;
	const uint8_t *bytes = agent_expr_bytecode(expr, &count);
	const struct agent_insn *insns = agent_expr_insns(expr, &count);

	for (size_t i = 0; i < count; i++) {
		if (insns[i].code != AGENT_GOTO && insns[i].code != AGENT_IF_GOTO)
			continue;
		buffer_append(code, bytes + at, insns[i].offset + 1 - at);
		append_number(code, insns[insns[i].target].offset + distance, 2);
		at = insns[i].offset + 3;
	}
	buffer_append(code, bytes + at, len - at);
}

/* How long it is without its `end`. -EOPNOTSUPP: it has others before, as none of gdb's
 * has. */
static ssize_t value_bytes(const struct agent_expr *expr)
{
	size_t count;
	const struct agent_insn *insns = agent_expr_insns(expr, &count);

	for (size_t i = 0; i + 1 < count; i++)
		if (insns[i].code == AGENT_END)
			return -EOPNOTSUPP;
	return insns[count - 1].offset;
}

static int make_expr(struct buffer *code, struct agent_list *list)
{
	_cleanup_error_ struct error *error = NULL;
	struct agent_expr *expr;

	buffer_append_char(code, AGENT_END);
	if (buffer_failed(code))
		return -ENOMEM;
	if (code->len > AGENT_LENGTH_MAX)
		return -E2BIG;
	error = agent_expr_create(code->data, code->len, &expr);
	if (error)
		return error_errno(error) == ENOMEM ? -ENOMEM : -E2BIG;
	return agent_list_append(list, expr);
}

static int join(const struct wanted_state *state, const struct agent_expr *condition,
		struct agent_list *list)
{
	const ssize_t len = value_bytes(condition);
	_cleanup_buffer_ struct buffer code = {0};
	size_t otherwise;

	if (len < 0)
		return (int)len;
	append_terms(state, &code);
	otherwise = begin_and((size_t)len, &code);
	append_moved(condition, (size_t)len, &code);
	end_and(otherwise, &code);
	return make_expr(&code, list);
}

static int state_alone(const struct wanted_state *state, struct agent_list *list)
{
	_cleanup_buffer_ struct buffer code = {0};

	append_terms(state, &code);
	return make_expr(&code, list);
}

int wanted_state_join(const struct wanted_state *state,
		      const struct agent_list *conditions, struct agent_list *ret)
{
	struct agent_list list = {0};
	int err = 0;

	if (!state)
		return agent_list_set(ret, conditions);
	if (conditions->count == 0)
		err = state_alone(state, &list);
	for (size_t i = 0; i < conditions->count && err == 0; i++)
		err = join(state, conditions->exprs[i], &list);
	if (err == 0)
		err = agent_list_set(ret, &list);
	agent_list_clear(&list);
	return err;
}
