/* SPDX-License-Identifier: BSD-2-Clause */
/* The program that the server starts, and may be asked to start again. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "inferior/inferior.h"
#include "server.h"

static void free_argv(char **argv)
{
	for (char **arg = argv; arg && *arg; arg++)
		free(*arg);
	free(argv);
}

static void cleanup_argv(char ***argv)
{
	free_argv(*argv);
}

/* NULL: no memory. */
static char **copy_argv(const char *program, char *const *argv)
{
	char **copy _cleanup_(cleanup_argv) = NULL;
	size_t count = 0;

	while (argv[count])
		count++;
	copy = calloc(count + 2, sizeof(*copy));
	if (!copy)
		return NULL;
	copy[0] = strdup(program);
	for (size_t i = 1; copy[0] && i < count; i++) {
		copy[i] = strdup(argv[i]);
		if (!copy[i])
			return NULL;
	}
	return copy[0] ? take_ptr(copy) : NULL;
}

void server_forget_program(struct server *server)
{
	free(take_ptr(server->program));
	free_argv(take_ptr(server->argv));
}

struct error *server_set_program(struct server *server, const char *program,
				 char *const *argv)
{
	_cleanup_free_ char *name = NULL;
	char **copy _cleanup_(cleanup_argv) = NULL;

	if (!program)
		program = server->program;
	if (!program)
		return error_create(0, "no program to run: name one");
	name = strdup(program);
	copy = copy_argv(program, argv);
	if (!name || !copy)
		return error_create(ENOMEM, "%s", program);
	server_forget_program(server);
	server->program = take_ptr(name);
	server->argv = take_ptr(copy);
	return NULL;
}

struct error *server_launch(struct server *server)
{
	const struct launch_options options = {
		.program = server->program,
		.argv = server->argv,
		.wrapper = server->options.wrapper,
		.disable_randomization = server->disable_randomization,
		.stdin_is_null = server->listener.comm.kind == COMM_STDIO,
	};
	struct inferior *inferior;
	struct error *error;

	if (!server->program)
		return error_create(0, "no program to run: name one");
	error = run_launch(&server->run, &options, &inferior);
	if (!error)
		log_info("Process %s created; pid = %d", server->program,
			 inferior->pid);
	return error;
}

struct error *server_attach(struct server *server, pid_t pid)
{
	struct inferior *inferior;
	struct error *error = run_attach(&server->run, pid, &inferior);

	if (!error)
		log_info("Attached; pid = %d", pid);
	return error;
}
