/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/client/live_stats.h"

#include "gdbstub/client/client.h"
#include "gdbstub/monitor/stats.h"

void live_stats_set(struct client *client, int interval)
{
	client->session.stats_interval = interval;
}

static bool are_wanted(const struct client *client)
{
	return client->session.stats_interval > 0 && client->run->running &&
	       !client->run->non_stop && client->connection;
}

void live_stats_prepare(struct client *client)
{
	if (client->session.stats_interval == 0)
		return;
	stats_name(&client->run->inferiors);
	lateness_begin(&client->session.stats_lateness);
}

void live_stats_look(struct client *client)
{
	struct lateness *lateness = &client->session.stats_lateness;
	const struct output output = console_output(client);
	_cleanup_buffer_ struct buffer text = {0};

	if (!are_wanted(client))
		return;
	lateness_look(lateness);
	if (lateness->waited < client->session.stats_interval)
		return;
	lateness_begin(lateness);
	if (console_is_full(client))
		return;
	stats_print(&client->run->inferiors, &text);
	output.print(output.data, buffer_string(&text), text.len);
}

int live_stats_patience(const struct client *client)
{
	struct lateness lateness = client->session.stats_lateness;
	int64_t left;

	if (!are_wanted(client))
		return -1;
	lateness_look(&lateness);
	left = client->session.stats_interval - lateness.waited;
	return left > 0 ? (int)left : 0;
}
