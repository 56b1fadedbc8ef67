/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/rsp/zpacket.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "gdbstub/base/cleanup.h"

struct error *zpacket_parse(struct cursor args, struct zpacket *ret)
{
	uint64_t kind;

	if (!cursor_hex(&args, &ret->type))
		return error_create(0, "breakpoint: no type");
	if (!cursor_char(&args, ',') || !cursor_hex(&args, &ret->addr))
		return error_create(0, "breakpoint: no address after the type");
	if (!cursor_char(&args, ',') || !cursor_hex(&args, &kind) || kind > INT_MAX)
		return error_create(0, "breakpoint: no kind after the address");
	if (cursor_left(&args) > 0 && *args.p != ';')
		return error_create(0, "breakpoint: no ';' after the kind");
	ret->kind = (unsigned int)kind;
	ret->options = (struct zpacket_options){.text = args};
	return NULL;
}

static struct error *take_bytecode(struct cursor *text, struct zpacket_expr *ret)
{
	const char *what = ret->is_command ? "command" : "condition";
	_cleanup_free_ uint8_t *bytecode = NULL;
	uint64_t len;

	if (!cursor_hex(text, &len) || !cursor_char(text, ','))
		return error_create(0, "%s: no length after X", what);
	if (len == 0 || len > ZPACKET_BYTECODE_MAX)
		return error_create(0, "%s: a length of %llu bytes is not in 1..%d",
				    what, (unsigned long long)len,
				    ZPACKET_BYTECODE_MAX);
	bytecode = malloc(len);
	if (!bytecode)
		return error_create(ENOMEM, "%s", what);
	if (!cursor_hex_bytes(text, bytecode, len))
		return error_create(0, "%s: fewer than %llu bytes of bytecode", what,
				    (unsigned long long)len);
	ret->bytecode = take_ptr(bytecode);
	ret->len = len;
	return NULL;
}

/* The head of the commands: "cmds:PERSIST,". */
static struct error *take_persistence(struct zpacket_options *options)
{
	uint64_t persistent;

	if (!cursor_hex(&options->text, &persistent) || persistent > 1)
		return error_create(0, "commands: neither 0 nor 1 after cmds:");
	if (!cursor_char(&options->text, ','))
		return error_create(0, "commands: no ',' after cmds:%d",
				    (int)persistent);
	options->commands = true;
	options->persistent = persistent == 1;
	return NULL;
}

struct error *zpacket_next_expr(struct zpacket_options *options,
				struct zpacket_expr *ret)
{
	struct cursor *text = &options->text;
	struct error *error = NULL;

	*ret = (struct zpacket_expr){0};
	/* One ';' comes before a list, none between its members. */
	while (cursor_char(text, ';'))
		options->commands = false;
	if (cursor_text(text, "cmds:"))
		error = take_persistence(options);
	if (error || cursor_left(text) == 0)
		return error;
	ret->is_command = options->commands;
	if (cursor_char(text, 'X'))
		return take_bytecode(text, ret);
	return error_create(0, "breakpoint: expected %s (X) at '%c'",
			    options->commands ? "a command" : "a condition",
			    *text->p >= ' ' && *text->p <= '~' ? *text->p : '?');
}
