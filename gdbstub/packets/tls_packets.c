/* SPDX-License-Identifier: BSD-2-Clause */
/* qGetTLSAddr, and qSymbol: the client looks up what we miss to serve it. */
#include <string.h>

#include "gdbstub/symbols/threaddb.h"
#include "gdbstub/packets/packet.h"
#include "gdbstub/client/threads.h"
#include "gdbstub/client/chosen.h"
#include "gdbstub/client/client.h"

struct error *packet_qGetTLSAddr(struct client *client, struct cursor *args,
				 struct buffer *reply)
{
	uint64_t offset, map, addr;
	struct thread *thread;
	struct thread_id id;
	struct error *error;

	if (!cursor_thread_id(args, &id) || !cursor_char(args, ',') ||
	    !cursor_hex(args, &offset) || !cursor_char(args, ',') ||
	    !cursor_hex(args, &map) || cursor_left(args) > 0)
		return error_create(0, "qGetTLSAddr: expected THREAD,OFFSET,MODULE");
	thread = threads_find(client, &id);
	if (!thread)
		return error_create(0, "no such thread");
	error = threaddb_tls_address(thread, map, offset, &addr);
	if (!error)
		buffer_printf(reply, "%llx", (unsigned long long)addr);
	return error;
}

/*
 * "qSymbol::" offers to look symbols up; "qSymbol:VALUE:NAME" answers our question,
 * with no value if there is no such symbol. The reply is the next question, or OK.
 */
struct error *packet_qSymbol(struct client *client, struct cursor *args,
			     struct buffer *reply)
{
	struct inferior *inferior = client_inferior(client);
	_cleanup_free_ char *name = NULL;
	const char *next = NULL;
	uint64_t addr;
	bool known = cursor_hex(args, &addr);

	if (cursor_char(args, ':'))
		name = cursor_hex_string(*args, NULL);
	if (!name)
		return error_create(0, "qSymbol: expected VALUE:NAME");
	if (inferior && known)
		threaddb_symbol(inferior, name, addr);
	if (inferior)
		next = threaddb_new_symbols(inferior, name[0] == '\0');
	if (!next) {
		buffer_append_string(reply, "OK");
		return NULL;
	}
	buffer_append_string(reply, "qSymbol:");
	buffer_append_hex(reply, next, strlen(next));
	return NULL;
}
