/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/tracing/startup.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gdbstub/base/descriptors.h"
#include "gdbstub/base/words.h"
#include "gdbstub/tracing/launch.h"
#include "gdbstub/tracing/shell.h"

void startup_init(struct startup *startup, char *const *wrapper)
{
	*startup = (struct startup){.wrapper = wrapper};
	signal_state_save(&startup->signals);
	descriptors_raise(&startup->descriptors);
}

static void forget_program(struct startup *startup)
{
	free(take_ptr(startup->program));
	words_free(take_ptr(startup->argv));
	free(take_ptr(startup->arguments));
}

void startup_deinit(struct startup *startup)
{
	forget_program(startup);
	startup_reset_environment(startup);
	free(take_ptr(startup->directory));
}

/* ---- program and arguments ---- */

static struct error *set_command(struct startup *startup, const char *program,
				 char *const *argv, const char *arguments)
{
	_cleanup_free_ char *name = NULL, *text = NULL;
	char **words _cleanup_words_ = NULL;

	if (!program)
		program = startup->program;
	if (!program)
		return error_create(0, "no program to run: name one");
	name = strdup(program);
	words = argv ? words_copy(argv) : NULL;
	text = arguments ? strdup(arguments) : NULL;
	if (!name || (argv && !words) || (arguments && !text))
		return error_create(ENOMEM, "%s", program);
	forget_program(startup);
	startup->program = take_ptr(name);
	startup->argv = take_ptr(words);
	startup->arguments = take_ptr(text);
	return NULL;
}

struct error *startup_set_program(struct startup *startup, const char *program,
				  char *const *argv)
{
	return set_command(startup, program, argv, NULL);
}

struct error *startup_set_command(struct startup *startup, const char *program,
				  const char *arguments)
{
	return set_command(startup, program, NULL, arguments);
}

void startup_append_arguments(const struct startup *startup, struct buffer *out)
{
	if (startup->arguments)
		buffer_append_string(out, startup->arguments);
	else if (words_count(startup->argv) > 0)
		shell_quote_words(out, "sh", startup->argv + 1);
}

/* ---- environment ---- */

static bool own_environment(struct startup *startup)
{
	if (!startup->environment)
		startup->environment = words_copy(environ);
	return startup->environment;
}

/* Removes every variable whose name is the first @len bytes of @name. */
static void remove_variable(struct startup *startup, const char *name, size_t len)
{
	char **to = startup->environment;

	for (char **from = startup->environment; *from; from++) {
		if (strncmp(*from, name, len) == 0 && (*from)[len] == '=')
			free(*from);
		else
			*to++ = *from;
	}
	*to = NULL;
}

struct error *startup_set_variable(struct startup *startup, const char *assignment)
{
	size_t len = strcspn(assignment, "=");

	if (len == 0 || assignment[len] != '=')
		return error_create(0, "'%s' is not NAME=VALUE", assignment);
	if (!own_environment(startup))
		return error_create(ENOMEM, "%s", assignment);
	remove_variable(startup, assignment, len);
	if (!words_take(&startup->environment, strdup(assignment)))
		return error_create(ENOMEM, "%s", assignment);
	return NULL;
}

struct error *startup_unset_variable(struct startup *startup, const char *name)
{
	if (*name == '\0')
		return error_create(0, "'%s' is not the name of a variable", name);
	if (!own_environment(startup))
		return error_create(ENOMEM, "%s", name);
	remove_variable(startup, name, strlen(name));
	return NULL;
}

void startup_reset_environment(struct startup *startup)
{
	words_free(take_ptr(startup->environment));
}

/* ---- the rest ---- */

/* The home of "~" or "~USER", the first @len bytes of @path; NULL: none is known. */
static const char *home_of(const char *path, size_t len)
{
	char *user _cleanup_free_ = strndup(path + 1, len - 1);
	const char *home = getenv("HOME");
	const struct passwd *entry;

	if (len == 1 && home)
		return home;
	entry = len == 1 ? getpwuid(getuid()) : user ? getpwnam(user) : NULL;
	return entry ? entry->pw_dir : NULL;
}

/* A copy of @path with "~" or "~USER" replaced. NULL: no memory. */
static char *expand_home(const char *path)
{
	size_t len = strcspn(path, "/");
	const char *home = *path == '~' ? home_of(path, len) : NULL;
	char *ret;

	if (!home)
		return strdup(path);
	return asprintf(&ret, "%s%s", home, path + len) < 0 ? NULL : ret;
}

struct error *startup_set_directory(struct startup *startup, const char *directory)
{
	char *copy = NULL;

	if (directory && *directory != '\0' && !(copy = expand_home(directory)))
		return error_create(ENOMEM, "%s", directory);
	free(startup->directory);
	startup->directory = copy;
	return NULL;
}

struct launch_options startup_launch_options(const struct startup *startup)
{
	return (struct launch_options){
		.program = startup->program,
		.argv = startup->argv,
		.arguments = startup->arguments,
		.shell = startup->with_shell ? shell_path() : NULL,
		.wrapper = startup->wrapper,
		.envp = startup->environment,
		.directory = startup->directory,
		.signals = &startup->signals,
		.descriptors = &startup->descriptors,
		.disable_randomization = startup->disable_randomization,
	};
}
