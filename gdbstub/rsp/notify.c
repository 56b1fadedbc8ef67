/* SPDX-License-Identifier: BSD-2-Clause */
#include "rsp/notify.h"

#include "rsp/connection.h"
#include "rsp/packet.h"
#include "rsp/report.h"
#include "server.h"
#include "stops/nonstop.h"

void notify_stop(struct server *server, const struct stop *stop)
{
	struct buffer text _cleanup_buffer_ = {0};

	buffer_append_string(&text, "Stop:");
	report_stop(server, stop, &text);
	connection_notify(server->connection, buffer_string(&text), text.len);
}

/* Appends the next stop to tell, or OK if there is none. */
static void notify_next(struct server *server, struct buffer *reply)
{
	struct stop stop;

	if (server_take_stop(server, &stop))
		report_stop(server, &stop, reply);
	else
		buffer_append_string(reply, "OK");
}

struct error *notify_first(struct server *server, struct buffer *reply)
{
	struct error *error = run_tell_first(&server->run);

	if (!error)
		notify_next(server, reply);
	return error;
}

/* The client has the stop that it was told last, and asks for the next one. */
struct error *packet_vStopped(struct server *server, struct cursor *args,
			      struct buffer *reply)
{
	(void)args;
	run_acknowledge(&server->run);
	if (server->run.non_stop)
		notify_next(server, reply);
	else
		buffer_append_string(reply, "OK");
	return NULL;
}
