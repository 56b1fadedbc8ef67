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

/* Appends the next stop to tell, or OK if there is none. */
static void notify_next(struct server *server, struct buffer *reply)
{
	struct stop stop;

	if (server_take_stop(server, &stop))
		report_stop(server, &stop, reply);
	else
		buffer_append_string(reply, "OK");
}

void notify_first(struct server *server, struct buffer *reply)
{
	run_tell_all(&server->run);
	notify_next(server, reply);
	server->session.asked = true;
}

/*
 * After `?`, gdb 13 fails an assertion of its own if it fetches more than one stop by
 * vStopped: it is not ready yet for two events (remote.c, process_initial_stop_replies
 * and queued_stop_reply). So the list that it asked for ends after the first one.
 */
static bool ends_list(struct session *session)
{
	bool asked = session->asked;

	session->asked = false;
	return asked;
}

/* The client has the stop that it was told last, and asks for the next one. */
struct error *packet_vStopped(struct server *server, struct cursor *args,
			      struct buffer *reply)
{
	(void)args;
	run_acknowledge(&server->run);
	if (!server->run.non_stop || ends_list(&server->session))
		buffer_append_string(reply, "OK");
	else
		notify_next(server, reply);
	return NULL;
}
