/* SPDX-License-Identifier: BSD-2-Clause */
#include "rsp/zpacket.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "base/cleanup.h"

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
	ret->options = args;
	return NULL;
}

static struct error *take_bytecode(struct cursor *options,
				   struct zpacket_condition *ret)
{
	_cleanup_free_ uint8_t *bytecode = NULL;
	uint64_t len;

	if (!cursor_hex(options, &len) || !cursor_char(options, ','))
		return error_create(0, "condition: no length after X");
	if (len == 0 || len > ZPACKET_CONDITION_MAX)
		return error_create(0,
				    "condition: a length of %llu bytes is not in 1..%d",
				    (unsigned long long)len, ZPACKET_CONDITION_MAX);
	bytecode = malloc(len);
	if (!bytecode)
		return error_create(ENOMEM, "condition");
	if (!cursor_hex_bytes(options, bytecode, len))
		return error_create(0, "condition: fewer than %llu bytes of bytecode",
				    (unsigned long long)len);
	ret->bytecode = take_ptr(bytecode);
	ret->len = len;
	return NULL;
}

struct error *zpacket_next_condition(struct cursor *options,
				     struct zpacket_condition *ret)
{
	*ret = (struct zpacket_condition){0};
	/* One ';' comes before the list, none between its members. */
	while (cursor_char(options, ';'))
		;
	if (cursor_left(options) == 0)
		return NULL;
	if (cursor_char(options, 'X'))
		return take_bytecode(options, ret);
	if (cursor_text(options, "cmds:"))
		return error_create(0, "breakpoint commands are not supported");
	return error_create(0, "breakpoint: expected a condition (X) at '%c'",
			    *options->p >= ' ' && *options->p <= '~' ? *options->p
								     : '?');
}
