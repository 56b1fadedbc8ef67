/* SPDX-License-Identifier: BSD-2-Clause */
/* QThreadSuffixSupported QListThreadsInStopReply QEnableErrorStrings qEcho
 * qGDBServerVersion: what lldb would like to have, before anything else. */
#include "gdbstub/client/client.h"
#include "gdbstub/lldb/lldb_packets.h"

/* Its watchpoints tell of every write, and it hears of all threads that stop. */
static void meet_lldb(struct client *client)
{
	client->session.lldb = true;
	client->run->engines.every_write = true;
	client->run->wishes.all_stops = true;
}

struct error *packet_QThreadSuffixSupported(struct client *client, struct cursor *args,
					    struct buffer *reply)
{
	(void)args;
	meet_lldb(client);
	client->session.thread_suffix = true;
	buffer_append_string(reply, "OK");
	return NULL;
}

struct error *packet_QListThreadsInStopReply(struct client *client, struct cursor *args,
					     struct buffer *reply)
{
	(void)args;
	meet_lldb(client);
	buffer_append_string(reply, "OK");
	return NULL;
}

struct error *packet_QEnableErrorStrings(struct client *client, struct cursor *args,
					 struct buffer *reply)
{
	(void)args;
	client->session.lldb = client->session.error_strings = true;
	buffer_append_string(reply, "OK");
	return NULL;
}

/* The packet comes back as it is: lldb finds out by that which replies it has missed.
 */
struct error *packet_qEcho(struct client *client, struct cursor *args,
			   struct buffer *reply)
{
	(void)client;
	buffer_append_string(reply, "qEcho:");
	buffer_append(reply, args->p, cursor_left(args));
	return NULL;
}

struct error *packet_qGDBServerVersion(struct client *client, struct cursor *args,
				       struct buffer *reply)
{
	(void)client;
	(void)args;
	buffer_append_string(reply, "name:truehit;version:" PACKAGE_VERSION ";");
	return NULL;
}
