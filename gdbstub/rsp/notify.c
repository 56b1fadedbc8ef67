/* SPDX-License-Identifier: BSD-2-Clause */
#include "rsp/notify.h"

#include "rsp/connection.h"
#include "rsp/packet.h"
#include "rsp/report.h"
#include "server.h"

void notify_stop(struct server *server, const struct stop *stop)
{
	struct buffer text _cleanup_buffer_ = {0};

	buffer_append_string(&text, "Stop:");
	report_stop(server, stop, &text);
	connection_notify(server->connection, buffer_string(&text), text.len);
}

void notify_next(struct server *server, struct buffer *reply)
{
	struct stop stop;

	if (server_take_stop(server, &stop))
		report_stop(server, &stop, reply);
	else
		buffer_append_string(reply, "OK");
}

/* The client has the stop that it was told last, and asks for the next one. */
struct error *packet_vStopped(struct server *server, struct cursor *args,
			      struct buffer *reply)
{
	(void)args;
	if (server->run.non_stop) {
		run_acknowledge(&server->run);
		notify_next(server, reply);
	} else {
		buffer_append_string(reply, "OK");
	}
	return NULL;
}
