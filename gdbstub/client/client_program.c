/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs that the server starts or attaches to. */
#include "gdbstub/client/client_program.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "gdbstub/base/log.h"
#include "gdbstub/inferior/inferior.h"
#include "gdbstub/tracing/launch.h"
#include "gdbstub/client/client.h"
#include "gdbstub/client/program_terminal.h"
#include "gdbstub/run/lifetimes.h"

struct error *client_check_room(const struct client *client)
{
	const struct session *session = &client->session;

	if (TAILQ_EMPTY(&client->run->inferiors.list) ||
	    (session->extended && session->multiprocess))
		return NULL;
	return error_create(0, "Already debugging a process");
}

/* For the streams that lldb names no file for, it shows a terminal. */
static struct error *choose_streams(struct client *client,
				    struct launch_options *options)
{
	char *const *files = client->session.stdio;
	const char *terminal = NULL;
	struct error *error = NULL;

	if (client->session.lldb && (!files[0] || !files[1] || !files[2]))
		error = program_terminal_open(client, &terminal);
	for (int i = 0; i < 3; i++)
		options->stdio[i] = files[i] ? files[i] : terminal;
	return error;
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
	error = choose_streams(client, &options);
	if (error)
		return error;
	error = run_launch(client->run, &options, &inferior);
	if (error)
		return error;
	log_info("Process %s created; pid = %d", options.program, inferior->pid);
	/* The client takes its first thread for chosen, in either mode. */
	client->session.general = (struct thread_id){
		.pid = inferior->pid, .tid = inferior->pid, .named_pid = true};
	return NULL;
}

/* Why the program that a shell was to start did not start, where we can tell. */
static struct error *explain(const struct startup *startup, struct error *error)
{
	const char *program = startup->program;
	bool is_path = program && (*program == '/' ||
				   (strchr(program, '/') && !startup->directory));

	if (error_errno(error) == 0 && is_path && access(program, X_OK) < 0)
		error = error_prefix(error, "Cannot exec %s: %s", program,
				     strerror(errno));
	log_warning("%s", error_text(error));
	return error;
}

struct error *client_run(struct client *client)
{
	struct error *error = client_launch(client);

	return error ? explain(client->startup, error) : NULL;
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
