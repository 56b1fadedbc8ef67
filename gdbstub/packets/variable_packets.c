/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * QTDV, qTV: trace state variables. gdb asks for a value whenever its user does, but
 * defines variables only when it starts a trace, which it cannot here: most of them
 * come into being when a condition mentions them.
 */
#include <inttypes.h>
#include <string.h>

#include "gdbstub/packets/packet.h"
#include "gdbstub/client/client.h"

/* Expressions name a variable in 16 bits. */
static bool take_number(struct cursor *args, unsigned int *number)
{
	uint64_t value;

	if (!cursor_hex(args, &value) || value > UINT16_MAX)
		return false;
	*number = (unsigned int)value;
	return true;
}

/* The variable's own name in hex digits; false: it is none. */
static bool take_name(struct cursor *args, char **name)
{
	size_t len;

	*name = cursor_hex_string(*args, &len);
	return *name && strlen(*name) == len;
}

/* QTDV:NUMBER:VALUE:BUILTIN:NAME; old clients end with the value. */
struct error *packet_QTDV(struct client *client, struct cursor *args,
			  struct buffer *reply)
{
	_cleanup_free_ char *name = NULL;
	unsigned int number;
	uint64_t value, builtin;
	struct error *error;

	if (!take_number(args, &number) || !cursor_char(args, ':') ||
	    !cursor_hex(args, &value))
		return error_create(0, "QTDV: expected NUMBER:VALUE");
	if (cursor_left(args) > 0 &&
	    (!cursor_char(args, ':') || !cursor_hex(args, &builtin) ||
	     !cursor_char(args, ':') || !take_name(args, &name)))
		return error_create(0, "QTDV: expected :BUILTIN:NAME");
	error = variables_define(&client->run->engines.variables, number,
				 (int64_t)value, name);
	if (!error)
		buffer_append_string(reply, "OK");
	return error;
}

struct error *packet_qTV(struct client *client, struct cursor *args,
			 struct buffer *reply)
{
	unsigned int number;
	uint64_t value;

	if (!take_number(args, &number) || cursor_left(args) > 0)
		return error_create(0, "qTV: expected a number");
	if (variables_get(&client->run->engines.variables, number, &value))
		buffer_printf(reply, "V%" PRIx64, value);
	else
		buffer_append_char(reply, 'U');
	return NULL;
}
