/* SPDX-License-Identifier: BSD-2-Clause */
/* ! D k vKill vAttach R: processes come and go (vRun: startup.c). */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>

#include "gdbstub/base/log.h"
#include "gdbstub/client/client_program.h"
#include "gdbstub/packets/packet.h"
#include "gdbstub/client/report.h"
#include "gdbstub/client/threads.h"
#include "gdbstub/client/chosen.h"
#include "gdbstub/client/client.h"
#include "gdbstub/breakpoints/breakpoints.h"
#include "gdbstub/run/lifetimes.h"
#include "gdbstub/run/unattended.h"

static struct error *parse_pid(struct cursor *args, uint64_t *pid)
{
	if (!cursor_hex(args, pid) || cursor_left(args) > 0 || *pid > INT_MAX)
		return error_create(0, "not a process id");
	return NULL;
}

/* The inferior whose pid is the packet's argument. */
static struct error *parse_inferior(struct client *client, struct cursor *args,
				    struct inferior **ret)
{
	uint64_t pid;
	struct error *error = parse_pid(args, &pid);

	return error ? error : threads_inferior(client, pid, ret);
}

struct error *packet_extended_mode(struct client *client, struct cursor *args,
				   struct buffer *reply)
{
	(void)args;
	client->session.extended = true;
	buffer_append_string(reply, "OK");
	return NULL;
}

/* D, or D;PID. */
struct error *packet_D(struct client *client, struct cursor *args, struct buffer *reply)
{
	struct inferior *inferior = client_inferior(client);
	struct error *error = NULL;

	if (cursor_char(args, ';'))
		error = parse_inferior(client, args, &inferior);
	else if (cursor_left(args) > 0)
		error = error_create(0, "D: no ';' before the process id");
	else if (!inferior)
		error = error_create(0, "no process is being debugged");
	if (error)
		return error;
	if (breakpoints_persist(inferior->breakpoints)) {
		log_info("Persistent commands are present, leaving truehit attached "
			 "to the process");
		error = run_leave(client->run, inferior);
	} else {
		log_info("Detaching from process %d", inferior->pid);
		run_detach(client->run, inferior, 0);
	}
	if (!error)
		buffer_append_string(reply, "OK");
	return error;
}

static void kill_inferior(struct client *client, struct inferior *inferior)
{
	log_info("Killing process(es): %d", inferior->pid);
	run_kill(client->run, inferior);
}

static void kill_all(struct client *client)
{
	struct inferior *inferior;

	while ((inferior = TAILQ_FIRST(&client->run->inferiors.list)))
		kill_inferior(client, inferior);
}

struct error *packet_k(struct client *client, struct cursor *args, struct buffer *reply)
{
	(void)args;
	kill_all(client);
	/* lldb waits for the process's end to be told. */
	client->session.silent = !client->session.lldb;
	if (client->session.lldb)
		buffer_printf(reply, "X%02x", SIGKILL);
	return NULL;
}

struct error *packet_vKill(struct client *client, struct cursor *args,
			   struct buffer *reply)
{
	struct inferior *inferior;
	struct error *error = parse_inferior(client, args, &inferior);

	if (error)
		return error;
	kill_inferior(client, inferior);
	buffer_append_string(reply, "OK");
	return NULL;
}

struct error *packet_vAttach(struct client *client, struct cursor *args,
			     struct buffer *reply)
{
	uint64_t pid;
	struct error *error = parse_pid(args, &pid);

	if (!error)
		error = client_check_room(client);
	if (!error)
		error = client_attach(client, (pid_t)pid);
	if (error)
		return error;
	/* In non-stop mode its threads run on. */
	if (client->run->non_stop)
		buffer_append_string(reply, "OK");
	else
		report_last_stop(client, reply);
	return NULL;
}

/* R: there is no reply, so that an error is only for the log. */
struct error *packet_R(struct client *client, struct cursor *args, struct buffer *reply)
{
	struct error *error _cleanup_error_ = NULL;

	(void)args;
	(void)reply;
	if (!client->session.extended)
		return NULL;
	client->session.silent = true;
	kill_all(client);
	error = client_launch(client);
	if (error)
		log_warning("%s", error_text(error));
	return NULL;
}
