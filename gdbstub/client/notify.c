/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/client/notify.h"

#include "gdbstub/rsp/connection.h"
#include "gdbstub/client/report.h"
#include "gdbstub/client/client.h"
#include "gdbstub/run/nonstop.h"

void notify_stop(struct client *client, const struct stop *stop)
{
	struct buffer text _cleanup_buffer_ = {0};

	buffer_append_string(&text, "Stop:");
	report_stop(client, stop, &text);
	connection_notify(client->connection, buffer_string(&text), text.len);
}

void notify_next(struct client *client, struct buffer *reply)
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
