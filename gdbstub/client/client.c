/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/client/client.h"

#include "gdbstub/base/log.h"
#include "gdbstub/inferior/signals.h"
#include "gdbstub/monitor/access_log.h"
#include "gdbstub/run/interrupt.h"

void client_end_accesses(struct client *client)
{
	access_log_end(client->accesses);
	client->accesses = NULL;
}

void client_check_accesses(struct client *client, bool tell)
{
	const struct output output = console_output(client);
	_cleanup_buffer_ struct buffer text = {0};

	if (!access_log_is_over(client->accesses))
		return;
	if (tell) {
		access_log_show(client->accesses, &text);
		output.print(output.data, buffer_string(&text), text.len);
	}
	client_end_accesses(client);
}

/* lldb interrupts a running program to ask for something, takes any stop for the
 * answer, and lets the program go on: an interrupt that has crossed a stop is answered
 * by that. To gdb, it is one of its user's, who is to see another stop. */
void client_interrupt(struct client *client)
{
	if (client->session.lldb && !client->session.resumed)
		return;
	run_interrupt(client->run);
	console_hurry(client);
}

bool client_has_process(const struct client *client)
{
	return !TAILQ_EMPTY(&client->run->inferiors.list);
}

bool client_stays(const struct client *client)
{
	return client->session.extended || client->multi;
}

bool client_is_last_end(const struct client *client, const struct stop *stop)
{
	return (stop->kind == STOP_EXITED || stop->kind == STOP_KILLED) &&
	       !client_has_process(client) && !client_stays(client);
}

static void say_end(const struct stop *stop)
{
	if (stop->kind == STOP_EXITED)
		log_info("\nChild exited with status %d", stop->status);
	else
		log_info("\nChild terminated with signal = 0x%x (%s)",
			 (unsigned int)stop->signal, signal_name(stop->signal));
}

bool client_take_stop(struct client *client, struct stop *stop)
{
	bool taken = run_poll(client->run, stop);

	if (taken && client_is_last_end(client, stop))
		say_end(stop);
	return taken;
}
