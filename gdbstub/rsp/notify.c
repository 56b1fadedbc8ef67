/* SPDX-License-Identifier: BSD-2-Clause */
#include "rsp/notify.h"

#include "rsp/connection.h"
#include "rsp/packet.h"
#include "rsp/report.h"
#include "rsp/client.h"
#include "stops/client_view.h"
#include "stops/nonstop.h"

void notify_stop(struct client *client, const struct stop *stop)
{
	struct buffer text _cleanup_buffer_ = {0};

	buffer_append_string(&text, "Stop:");
	report_stop(client, stop, &text);
	connection_notify(client->connection, buffer_string(&text), text.len);
}

/* Appends the next stop to tell, or OK if there is none. */
static void notify_next(struct client *client, struct buffer *reply)
{
	struct stop stop;

	if (client_take_stop(client, &stop))
		report_stop(client, &stop, reply);
	else
		buffer_append_string(reply, "OK");
}

struct error *notify_first(struct client *client, struct buffer *reply)
{
	struct error *error = run_tell_first(client->run);

	if (!error)
		notify_next(client, reply);
	return error;
}

/* The client has the stop that it was told last, and asks for the next one. */
struct error *packet_vStopped(struct client *client, struct cursor *args,
			      struct buffer *reply)
{
	(void)args;
	client_view_acknowledge(client->run);
	if (client->run->non_stop)
		notify_next(client, reply);
	else
		buffer_append_string(reply, "OK");
	return NULL;
}
