/* SPDX-License-Identifier: BSD-2-Clause */
/* m x M X qCRC qSearch: the inferior's memory, without the traps that were planted in
 * it.
 */
#include <errno.h>
#include <string.h>

#include "gdbstub/base/cleanup.h"
#include "gdbstub/packets/address_tag.h"
#include "gdbstub/rsp/binary.h"
#include "gdbstub/packets/packet.h"
#include "gdbstub/rsp/frame.h"
#include "gdbstub/client/chosen.h"
#include "gdbstub/client/client.h"
#include "gdbstub/breakpoints/breakpoints.h"
#include "gdbstub/hits/memory_write.h"
#include "gdbstub/hits/replay.h"
#include "gdbstub/text/traps.h"
#include "gdbstub/breakpoints/watch.h"

struct range {
	struct inferior *inferior;
	uint64_t addr;
	size_t len;
	struct patience patience; /* of what looks at all of it at once */
};

/* "ADDR,LENGTH" of the process at hand. */
static struct error *parse_range(struct client *client, struct cursor *args,
				 struct range *range)
{
	uint64_t len;

	if (!cursor_hex(args, &range->addr) || !cursor_char(args, ',') ||
	    !cursor_hex(args, &len))
		return error_create(0, "not an address and a length");
	range->len = len;
	range->inferior = client_inferior(client);
	if (!range->inferior)
		return error_create(0, "no process is being debugged");
	range->addr = address_untag(range->inferior, range->addr);
	return NULL;
}

/* Reads a range, cut to @max bytes and to what is readable. The caller frees
 * *data. */
static struct error *read_range(struct client *client, struct cursor *args,
				const char *packet, size_t max, void **data,
				size_t *len)
{
	struct range range;
	struct error *error = parse_range(client, args, &range);
	ssize_t n;

	if (error)
		return error;
	if (cursor_left(args) > 0)
		return error_create(0, "%s: more than an address and a length", packet);
	if (range.len > max)
		range.len = max;
	*data = malloc(range.len + 1);
	if (!*data)
		return error_create(ENOMEM, "memory not read");
	n = replay_read_memory(range.inferior, range.addr, *data, range.len);
	if (n < 0)
		return error_create((int)-n, "memory at 0x%llx",
				    (unsigned long long)range.addr);
	*len = (size_t)n;
	watch_shown(client_thread(client), range.addr, *data, *len);
	return NULL;
}

struct error *packet_m(struct client *client, struct cursor *args, struct buffer *reply)
{
	_cleanup_free_ void *data = NULL;
	size_t len;
	struct error *error =
		read_range(client, args, "m", RSP_PACKET_SIZE / 2, &data, &len);

	if (!error)
		buffer_append_hex(reply, data, len);
	return error;
}

/* As m, but the reply is 'b' and the bytes as they are. The 'b' also tells a client
 * that asks for nothing (x0,0, lldb) that this is not its old packet of that name. */
struct error *packet_x(struct client *client, struct cursor *args, struct buffer *reply)
{
	_cleanup_free_ void *data = NULL;
	size_t len;
	struct error *error =
		read_range(client, args, "x", RSP_PACKET_SIZE, &data, &len);

	if (error)
		return error;
	buffer_append_char(reply, 'b');
	buffer_append(reply, data, binary_fit(data, len, RSP_PACKET_SIZE - 1));
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

struct error *packet_M(struct client *client, struct cursor *args, struct buffer *reply)
{
	_cleanup_free_ void *data = NULL;
	struct range range;
	struct error *error = parse_range(client, args, &range);

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

struct error *packet_X(struct client *client, struct cursor *args, struct buffer *reply)
{
	struct range range;
	struct error *error = parse_range(client, args, &range);

	if (error)
		return error;
	if (!cursor_char(args, ':') || cursor_left(args) != range.len)
		return error_create(0, "X: the data does not have the length given");
	return write_range(&range, args->p, reply);
}

/* ---- work that is done here, so that not all memory goes to the client ---- */

enum { PIECE_SIZE = 0x10000 };

static struct error *read_piece(struct range *range, uint64_t offset, void *data,
				size_t len)
{
	uint64_t addr = range->addr + offset;
	ssize_t n;

	if (patience_ended(&range->patience))
		return error_create(0, "given up at 0x%llx: %s",
				    (unsigned long long)addr, range->patience.verdict);
	n = replay_read_memory(range->inferior, addr, data, len);
	if (n == (ssize_t)len)
		return NULL;
	return error_create(n < 0 ? (int)-n : EFAULT, "memory at 0x%llx",
			    (unsigned long long)(addr + (n > 0 ? (uint64_t)n : 0)));
}

/* CRC-32, the highest bit first, nothing inverted: what the client computes over
 * the section of a file ("Debugging with GDB", General Query Packets, qCRC). */
static uint32_t crc32(uint32_t crc, const uint8_t *data, size_t len)
{
	const uint32_t polynomial = 0x04c11db7, top = UINT32_C(1) << 31;

	for (size_t i = 0; i < len; i++) {
		crc ^= (uint32_t)data[i] << 24;
		for (int bit = 0; bit < 8; bit++)
			crc = crc & top ? crc << 1 ^ polynomial : crc << 1;
	}
	return crc;
}

struct error *packet_qCRC(struct client *client, struct cursor *args,
			  struct buffer *reply)
{
	_cleanup_free_ uint8_t *data = malloc(PIECE_SIZE);
	uint32_t crc = UINT32_MAX;
	struct range range;
	struct error *error = parse_range(client, args, &range);

	if (error)
		return error;
	if (cursor_left(args) > 0)
		return error_create(0, "qCRC: more than an address and a length");
	if (!data)
		return error_create(ENOMEM, "memory not read");
	inferior_patience(range.inferior, &range.patience, PATIENCE_ENDLESS);
	for (size_t at = 0; at < range.len;) {
		size_t left = range.len - at,
		       len = left < PIECE_SIZE ? left : PIECE_SIZE;

		error = read_piece(&range, at, data, len);
		if (error)
			return error;
		crc = crc32(crc, data, len);
		at += len;
	}
	buffer_printf(reply, "C%x", crc);
	return NULL;
}

/* The offset of the first @pattern inside the range; false: there is none. */
static struct error *search(struct range *range, const struct cursor *pattern,
			    uint64_t *offset, bool *found)
{
	const size_t len = cursor_left(pattern), size = PIECE_SIZE + len;
	_cleanup_free_ char *data = malloc(size);

	*found = false;
	if (!data)
		return error_create(ENOMEM, "memory not searched");
	/* Pieces overlap by all but one byte of the pattern. */
	for (size_t at = 0; range->len - at >= len; at += size - len + 1) {
		size_t left = range->len - at, piece = left < size ? left : size;
		struct error *error = read_piece(range, at, data, piece);
		const char *match;

		if (error)
			return error;
		match = memmem(data, piece, pattern->p, len);
		if (match) {
			*found = true;
			*offset = at + (uint64_t)(match - data);
			return NULL;
		}
		if (left <= size)
			break;
	}
	return NULL;
}

/* ADDR;LENGTH;PATTERN */
struct error *packet_qSearch_memory(struct client *client, struct cursor *args,
				    struct buffer *reply)
{
	struct range range = {.inferior = client_inferior(client)};
	uint64_t len, offset;
	struct error *error;
	bool found;

	if (!cursor_hex(args, &range.addr) || !cursor_char(args, ';') ||
	    !cursor_hex(args, &len) || !cursor_char(args, ';') ||
	    cursor_left(args) == 0)
		return error_create(0, "qSearch: not an address, a length, a pattern");
	if (!range.inferior)
		return error_create(0, "no process is being debugged");
	range.len = len;
	inferior_patience(range.inferior, &range.patience, PATIENCE_ENDLESS);
	error = search(&range, args, &offset, &found);
	if (error)
		return error;
	if (found)
		buffer_printf(reply, "1,%jx", (uintmax_t)range.addr + offset);
	else
		buffer_append_char(reply, '0');
	return NULL;
}
