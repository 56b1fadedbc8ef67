/* SPDX-License-Identifier: BSD-2-Clause */
/* ! D k vKill vAttach R: processes come and go (vRun: startup.c). */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "base/log.h"
#include "program.h"
#include "rsp/packet.h"
#include "rsp/report.h"
#include "rsp/threads.h"
#include "server.h"
#include "stops/life.h"
#include "stops/unattended.h"

static struct error *parse_pid(struct cursor *args, uint64_t *pid)
{
	if (!cursor_hex(args, pid) || cursor_left(args) > 0 || *pid > INT_MAX)
		return error_create(0, "not a process id");
	return NULL;
}

/* The inferior whose pid is the packet's argument. */
static struct error *parse_inferior(struct server *server, struct cursor *args,
				    struct inferior **ret)
{
	uint64_t pid;
	struct error *error = parse_pid(args, &pid);

	return error ? error : threads_inferior(server, pid, ret);
}

struct error *packet_extended_mode(struct server *server, struct cursor *args,
				   struct buffer *reply)
{
	(void)args;
	server->session.extended = true;
	buffer_append_string(reply, "OK");
	return NULL;
}

/* D, or D;PID. */
struct error *packet_D(struct server *server, struct cursor *args, struct buffer *reply)
{
	struct inferior *inferior = server_inferior(server);
	struct error *error = NULL;

	if (cursor_char(args, ';'))
		error = parse_inferior(server, args, &inferior);
	else if (cursor_left(args) > 0)
		error = error_create(0, "D: no ';' before the process id");
	else if (!inferior)
		error = error_create(0, "no process is being debugged");
	if (error)
		return error;
	if (breakpoints_persist(inferior->breakpoints)) {
		log_info("Persistent commands are present, leaving truehit attached "
			 "to the process");
		error = run_leave(&server->run, inferior);
	} else {
		log_info("Detaching from process %d", inferior->pid);
		run_detach(&server->run, inferior, 0);
	}
	if (!error)
		buffer_append_string(reply, "OK");
	return error;
}

static void kill_inferior(struct server *server, struct inferior *inferior)
{
	log_info("Killing process(es): %d", inferior->pid);
	run_kill(&server->run, inferior);
}

static void kill_all(struct server *server)
{
	struct inferior *inferior;

	while ((inferior = TAILQ_FIRST(&server->run.inferiors.list)))
		kill_inferior(server, inferior);
}

struct error *packet_k(struct server *server, struct cursor *args, struct buffer *reply)
{
	(void)args;
	(void)reply;
	server->session.silent = true;
	kill_all(server);
	return NULL;
}

struct error *packet_vKill(struct server *server, struct cursor *args,
			   struct buffer *reply)
{
	struct inferior *inferior;
	struct error *error = parse_inferior(server, args, &inferior);

	if (error)
		return error;
	kill_inferior(server, inferior);
	buffer_append_string(reply, "OK");
	return NULL;
}

struct error *packet_vAttach(struct server *server, struct cursor *args,
			     struct buffer *reply)
{
	uint64_t pid;
	struct error *error = parse_pid(args, &pid);

	if (!error)
		error = server_check_room(server);
	if (!error)
		error = server_attach(server, (pid_t)pid);
	if (error)
		return error;
	/* In non-stop mode its threads run on. */
	if (server->run.non_stop)
		buffer_append_string(reply, "OK");
	else
		report_last_stop(server, reply);
	return NULL;
}

/* R: there is no reply, so that an error is only for the log. */
struct error *packet_R(struct server *server, struct cursor *args, struct buffer *reply)
{
	struct error *error _cleanup_error_ = NULL;

	(void)args;
	(void)reply;
	if (!server->session.extended)
		return NULL;
	server->session.silent = true;
	kill_all(server);
	error = server_launch(server);
	if (error)
		log_warning("%s", error_text(error));
	return NULL;
}
