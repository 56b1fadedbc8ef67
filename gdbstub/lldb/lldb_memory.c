/* SPDX-License-Identifier: BSD-2-Clause */
/* qMemoryRegionInfo MultiMemRead _M _m: what is where, several places at once, and
 * memory of lldb's own. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "gdbstub/base/cleanup.h"
#include "gdbstub/hits/replay.h"
#include "gdbstub/inferior/maps.h"
#include "gdbstub/pads/client_memory.h"
#include "gdbstub/rsp/binary.h"
#include "gdbstub/rsp/frame.h"
#include "gdbstub/symbols/mapping.h"
#include "gdbstub/breakpoints/watch.h"
#include "gdbstub/client/chosen.h"
#include "gdbstub/client/client.h"
#include "gdbstub/lldb/lldb_packets.h"

static struct error *current(struct client *client, struct inferior **ret)
{
	*ret = client_inferior(client);
	return *ret ? NULL : error_create(ESRCH, "no process is being debugged");
}

/* ---- qMemoryRegionInfo:ADDR ---- */

/* The mapping that has the address, or else the next one above it. False: there is
 * none. */
static bool find_at_or_above(const char *maps, uint64_t addr, struct mapping *ret)
{
	for (const char *line = maps; line && *line != '\0';) {
		if (mapping_parse(line, ret) && addr < ret->end)
			return true;
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return false;
}

static void append_mapping(const struct mapping *mapping, struct buffer *out)
{
	buffer_printf(out,
		      "start:%" PRIx64 ";size:%" PRIx64 ";permissions:", mapping->start,
		      mapping->end - mapping->start);
	for (int i = 0; i < 3; i++)
		if (mapping->permissions[i] != '-')
			buffer_append_char(out, mapping->permissions[i]);
	buffer_append_char(out, ';');
	if (mapping->name_len == 0)
		return;
	buffer_append_string(out, "name:");
	buffer_append_hex(out, mapping->name, (size_t)mapping->name_len);
	buffer_append_char(out, ';');
}

/* An address where nothing is has an answer, too: lldb takes an error for the lack of
 * the packet. */
static void append_region(const char *maps, uint64_t addr, struct buffer *out)
{
	struct mapping mapping;
	bool any_above = find_at_or_above(maps, addr, &mapping);

	if (any_above && mapping.start <= addr)
		append_mapping(&mapping, out);
	else
		buffer_printf(out, "start:%" PRIx64 ";size:%" PRIx64 ";", addr,
			      (any_above ? mapping.start : UINT64_MAX) - addr);
}

struct error *packet_qMemoryRegionInfo(struct client *client, struct cursor *args,
				       struct buffer *reply)
{
	struct buffer own _cleanup_buffer_ = {0};
	struct inferior *inferior;
	struct error *error = current(client, &inferior);
	const char *maps;
	uint64_t addr;
	int err;

	if (cursor_left(args) == 0) { /* is there such a packet? */
		error_destroy(error);
		buffer_append_string(reply, "OK");
		return NULL;
	}
	if (error)
		return error;
	if (!cursor_char(args, ':') || !cursor_hex(args, &addr) ||
	    cursor_left(args) > 0)
		return error_create(EINVAL, "qMemoryRegionInfo: not an address");
	err = maps_read(inferior, &own, &maps);
	if (err < 0)
		return error_create(-err, "the map of process %d's memory",
				    inferior->pid);
	append_region(maps, addr, reply);
	return NULL;
}

/* ---- MultiMemRead:ranges:ADDR,LEN,...; ---- */

enum { RANGES_MAX = 4096 };

/* What was read so far: the lengths in hex, each after a comma, and the bytes. */
struct pieces {
	struct buffer lengths, data;
	unsigned int count;
};

static void cleanup_pieces(struct pieces *pieces)
{
	buffer_deinit(&pieces->lengths);
	buffer_deinit(&pieces->data);
}

/* A range that cannot be read, or that the reply has no room for, has no bytes. */
static void read_one(struct inferior *inferior, uint64_t addr, uint64_t len,
		     struct pieces *pieces)
{
	const size_t room = RSP_PACKET_SIZE / 2 - pieces->data.len;
	_cleanup_free_ void *bytes = NULL;
	ssize_t n = 0;

	if (len <= room)
		bytes = malloc(len + 1);
	if (bytes && len > 0)
		n = replay_read_memory(inferior, addr, bytes, len);
	if (n > 0)
		buffer_append(&pieces->data, bytes, (size_t)n);
	buffer_printf(&pieces->lengths, "%s%zx", pieces->count++ > 0 ? "," : "",
		      n > 0 ? (size_t)n : 0);
}

static struct error *read_ranges(struct inferior *inferior, struct cursor ranges,
				 struct pieces *pieces)
{
	uint64_t addr, len;

	do {
		if (pieces->count == RANGES_MAX)
			return error_create(E2BIG, "MultiMemRead: over %d ranges",
					    RANGES_MAX);
		if (!cursor_hex(&ranges, &addr) || !cursor_char(&ranges, ',') ||
		    !cursor_hex(&ranges, &len))
			return error_create(EINVAL,
					    "MultiMemRead: range %u is not an "
					    "address and a length",
					    pieces->count + 1);
		read_one(inferior, addr, len, pieces);
	} while (cursor_char(&ranges, ','));
	return cursor_left(&ranges) > 0
		       ? error_create(EINVAL, "MultiMemRead: no ',' after range %u",
				      pieces->count)
		       : NULL;
}

struct error *packet_MultiMemRead(struct client *client, struct cursor *args,
				  struct buffer *reply)
{
	struct pieces pieces _cleanup_(cleanup_pieces) = {0};
	struct inferior *inferior;
	struct error *error = current(client, &inferior);
	struct cursor ranges;

	if (error)
		return error;
	if (!cursor_text(args, "ranges:"))
		return error_create(EINVAL, "MultiMemRead: no ranges");
	ranges = cursor_until(args, ';');
	if (!cursor_char(args, ';') ||
	    (cursor_text(args, "options:") &&
	     (cursor_until(args, ';'), !cursor_char(args, ';'))) ||
	    cursor_left(args) > 0)
		return error_create(EINVAL, "MultiMemRead: not RANGES;[options:...;]");
	error = read_ranges(inferior, ranges, &pieces);
	if (error)
		return error;
	if (buffer_failed(&pieces.data) || buffer_failed(&pieces.lengths))
		return error_create(ENOMEM, "memory not read");
	buffer_append_string(reply, buffer_string(&pieces.lengths));
	buffer_append_char(reply, ';');
	buffer_append(reply, pieces.data.data, pieces.data.len);
	return NULL;
}

/* ---- _M LENGTH,PERMISSIONS and _m ADDR ---- */

static bool parse_permissions(struct cursor *args, int *protection)
{
	static const struct {
		char letter;
		int bit;
	} rows[] = {{'r', PROT_READ}, {'w', PROT_WRITE}, {'x', PROT_EXEC}};

	*protection = PROT_NONE;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (cursor_char(args, rows[i].letter))
			*protection |= rows[i].bit;
	return cursor_left(args) == 0;
}

struct error *packet__M(struct client *client, struct cursor *args,
			struct buffer *reply)
{
	struct inferior *inferior;
	struct error *error = current(client, &inferior);
	uint64_t len, addr;
	int protection;

	if (error)
		return error;
	if (!cursor_hex(args, &len) || !cursor_char(args, ',') ||
	    !parse_permissions(args, &protection) || len == 0)
		return error_create(EINVAL, "_M: not a length and permissions (rwx)");
	error = client_memory_map(inferior, len, protection, &addr);
	if (!error)
		buffer_printf(reply, "%" PRIx64, addr);
	return error;
}

struct error *packet__m(struct client *client, struct cursor *args,
			struct buffer *reply)
{
	struct inferior *inferior;
	struct error *error = current(client, &inferior);
	uint64_t addr;

	if (error)
		return error;
	if (!cursor_hex(args, &addr) || cursor_left(args) > 0)
		return error_create(EINVAL, "_m: not an address");
	error = client_memory_unmap(inferior, addr);
	if (!error)
		buffer_append_string(reply, "OK");
	return error;
}
