/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs that the server starts or attaches to. */
#include "gdbstub/client/client_program.h"

#include "gdbstub/base/log.h"
#include "gdbstub/inferior/inferior.h"
#include "gdbstub/tracing/launch.h"
#include "gdbstub/client/client.h"
#include "gdbstub/run/lifetimes.h"

struct error *client_check_room(const struct client *client)
{
	const struct session *session = &client->session;

	if (TAILQ_EMPTY(&client->run->inferiors.list) ||
	    (session->extended && session->multiprocess))
		return NULL;
	return error_create(0, "Already debugging a process");
}

struct error *client_launch(struct client *client)
{
	struct launch_options options = startup_launch_options(client->startup);
	struct inferior *inferior;
	struct error *error;

	if (!options.program)
		return error_create(0, "no program to run: name one");
	options.stdin_is_null = client->over_stdio;
	if (options.stdin_is_null)
		log_info("stdin/stdout redirected");
	error = run_launch(client->run, &options, &inferior);
	if (error)
		return error;
	log_info("Process %s created; pid = %d", options.program, inferior->pid);
	/* The client takes its first thread for chosen, in either mode. */
	client->session.general = (struct thread_id){
		.pid = inferior->pid, .tid = inferior->pid, .named_pid = true};
	return NULL;
}

struct error *client_attach(struct client *client, pid_t pid)
{
	struct inferior *inferior;
	struct error *error;

	if (pid == client->guard)
		return error_create(0, "Cannot attach to process %d: it guards truehit",
				    pid);
	error = run_attach(client->run, pid, &inferior);
	if (!error)
		log_info("Attached; pid = %d", pid);
	return error;
}
