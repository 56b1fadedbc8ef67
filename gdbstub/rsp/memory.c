/* SPDX-License-Identifier: BSD-2-Clause */
/* m M X: the inferior's memory, without the traps that were planted in it. */
#include <errno.h>

#include "base/cleanup.h"
#include "rsp/packet.h"
#include "rsp/session.h"
#include "server.h"
#include "stops/breakpoints.h"

struct range {
	struct inferior *inferior;
	uint64_t addr;
	size_t len;
};

/* "ADDR,LENGTH" of the process at hand. */
static struct error *parse_range(struct server *server, struct cursor *args,
				 struct range *range)
{
	uint64_t len;

	if (!cursor_hex(args, &range->addr) || !cursor_char(args, ',') ||
	    !cursor_hex(args, &len))
		return error_create(0, "not an address and a length");
	range->len = len;
	range->inferior = server_inferior(server);
	if (!range->inferior)
		return error_create(0, "no process is being debugged");
	return NULL;
}

struct error *packet_m(struct server *server, struct cursor *args, struct buffer *reply)
{
	_cleanup_free_ void *data = NULL;
	struct range range;
	struct error *error = parse_range(server, args, &range);
	ssize_t n;

	if (error)
		return error;
	if (cursor_left(args) > 0)
		return error_create(0, "m: more than an address and a length");
	if (range.len > RSP_PACKET_SIZE / 2)
		range.len = RSP_PACKET_SIZE / 2;
	data = malloc(range.len + 1);
	if (!data)
		return error_create(ENOMEM, "memory not read");
	n = breakpoints_read_memory(range.inferior, range.addr, data, range.len);
	if (n < 0)
		return error_create((int)-n, "memory at 0x%llx",
				    (unsigned long long)range.addr);
	buffer_append_hex(reply, data, (size_t)n);
	return NULL;
}

static struct error *write_range(const struct range *range, const void *data,
				 struct buffer *reply)
{
	int err = 0;

	/* gdb sends an empty write to see if the packet is supported. */
	if (range->len > 0)
		err = breakpoints_write_memory(range->inferior, range->addr, data,
					       range->len);
	if (err < 0)
		return error_create(-err, "memory at 0x%llx",
				    (unsigned long long)range->addr);
	buffer_append_string(reply, "OK");
	return NULL;
}

struct error *packet_M(struct server *server, struct cursor *args, struct buffer *reply)
{
	_cleanup_free_ void *data = NULL;
	struct range range;
	struct error *error = parse_range(server, args, &range);

	if (error)
		return error;
	if (!cursor_char(args, ':') || cursor_left(args) % 2 != 0 ||
	    cursor_left(args) / 2 != range.len)
		return error_create(0, "M: the data does not have the length given");
	data = malloc(range.len + 1);
	if (!data)
		return error_create(ENOMEM, "memory not written");
	if (!cursor_hex_bytes(args, data, range.len))
		return error_create(0, "M: not hexadecimal data");
	return write_range(&range, data, reply);
}

struct error *packet_X(struct server *server, struct cursor *args, struct buffer *reply)
{
	struct range range;
	struct error *error = parse_range(server, args, &range);

	if (error)
		return error;
	if (!cursor_char(args, ':') || cursor_left(args) != range.len)
		return error_create(0, "X: the data does not have the length given");
	return write_range(&range, args->p, reply);
}
