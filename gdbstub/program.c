/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs that the server starts or attaches to. */
#include "program.h"

#include "base/log.h"
#include "inferior/inferior.h"
#include "inferior/launch.h"
#include "server.h"
#include "stops/life.h"

struct error *server_check_room(const struct server *server)
{
	const struct session *session = &server->session;

	if (TAILQ_EMPTY(&server->run.inferiors.list) ||
	    (session->extended && session->multiprocess))
		return NULL;
	return error_create(0, "Already debugging a process");
}

struct error *server_launch(struct server *server)
{
	struct launch_options options = startup_launch_options(&server->startup);
	struct inferior *inferior;
	struct error *error;

	if (!options.program)
		return error_create(0, "no program to run: name one");
	options.stdin_is_null = server->listener.comm.kind == COMM_STDIO;
	if (options.stdin_is_null)
		log_info("stdin/stdout redirected");
	error = run_launch(&server->run, &options, &inferior);
	if (error)
		return error;
	log_info("Process %s created; pid = %d", options.program, inferior->pid);
	/* The client takes its first thread for chosen, in either mode. */
	server->session.general = (struct thread_id){
		.pid = inferior->pid, .tid = inferior->pid, .named_pid = true};
	return NULL;
}

struct error *server_attach(struct server *server, pid_t pid)
{
	struct inferior *inferior;
	struct error *error;

	if (pid == server->guard)
		return error_create(0, "Cannot attach to process %d: it guards truehit",
				    pid);
	error = run_attach(&server->run, pid, &inferior);
	if (!error)
		log_info("Attached; pid = %d", pid);
	return error;
}
