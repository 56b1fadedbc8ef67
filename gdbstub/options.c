/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/options.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/base/log.h"
#include "gdbstub/rsp/disable.h"

/* What is left of the command line. */
struct words {
	char **next, **end;
};

/* Either sets a flag of struct options to a value, or calls a function. */
struct option_row {
	const char *name;
	const char *argument; /* "[=CATEGORIES]" if it may have one; or NULL */
	const char *help;
	size_t flag;
	bool value;
	struct error *(*set)(struct options *options, const char *argument);
};

static struct error *set_debug(struct options *options, const char *argument)
{
	(void)options;
	return log_enable(argument ? argument : "all");
}

static struct error *set_debug_format(struct options *options, const char *argument)
{
	(void)options;
	return argument ? log_format(argument)
			: error_create(0, "Missing argument value for: --debug-format");
}

static struct error *set_debug_file(struct options *options, const char *argument)
{
	(void)options;
	return argument ? log_open_file(argument)
			: error_create(0, "Missing argument value for: --debug-file");
}

static struct error *set_remote_debug(struct options *options, const char *argument)
{
	(void)options;
	(void)argument;
	return log_enable("rsp");
}

static struct error *set_event_loop_debug(struct options *options, const char *argument)
{
	(void)options;
	(void)argument;
	return log_enable("server");
}

static struct error *set_disabled(struct options *options, const char *argument)
{
	if (argument)
		return disable_parse(argument, &options->disabled);
	options->print = disable_print_names;
	return NULL;
}

static struct error *set_check(struct options *options, const char *argument)
{
	if (argument && strcmp(argument, "json") != 0)
		return error_create(0, "--check takes json, or nothing, not '%s'",
				    argument);
	options->check = argument ? CHECK_JSON : CHECK_TEXT;
	return NULL;
}

static struct error *set_selftest(struct options *options, const char *argument)
{
	(void)argument;
	options->print = options_print_selftest;
	return NULL;
}

static struct error *set_version(struct options *options, const char *argument)
{
	(void)argument;
	options->print = options_print_version;
	return NULL;
}

static struct error *set_help(struct options *options, const char *argument)
{
	(void)argument;
	options->print = options_print_help;
	return NULL;
}

#define FLAG(name_, value_) .flag = offsetof(struct options, name_), .value = value_

static const struct option_row option_rows[] = {
	{"--once", NULL, "serve one client, then end", FLAG(once, true)},
	{"--multi", NULL, "wait for a client without a program; stay when one ends",
	 FLAG(multi, true)},
	{"--startup-with-shell", NULL, "start programs by $SHELL (the default)",
	 FLAG(with_shell, true)},
	{"--no-startup-with-shell", NULL, "start programs directly",
	 FLAG(with_shell, false)},
	{"--no-escape-args", NULL, "let the shell expand the program's arguments",
	 FLAG(escape_args, false)},
	{"--disable-randomization", NULL,
	 "start programs at fixed addresses (the default)",
	 FLAG(disable_randomization, true)},
	{"--no-disable-randomization", NULL, "start programs at random addresses",
	 FLAG(disable_randomization, false)},
	{"--disable-packet", "[=NAMES]",
	 "answer like a server without these packets; without NAMES, list them",
	 .set = set_disabled},
	{"--debug", "[=CATEGORIES]",
	 "debugging output: all, or rsp, inferior, stops, bpf, server",
	 .set = set_debug},
	{"--remote-debug", NULL, "the same as --debug=rsp", .set = set_remote_debug},
	{"--event-loop-debug", NULL, "the same as --debug=server",
	 .set = set_event_loop_debug},
	{"--debug-format", "=all|none|timestamp",
	 "what each line of debugging output begins with", .set = set_debug_format},
	{"--debug-file", "=FILE", "where debugging output goes, instead of stderr",
	 .set = set_debug_file},
	{"--check", "[=json]", "say what this machine and this user can have, and end",
	 .set = set_check},
	{"--selftest", "[=FILTER]", "tests that are built in: none",
	 .set = set_selftest},
	{"--version", NULL, "print the version and end", .set = set_version},
	{"--help", NULL, "print this text and end", .set = set_help},
};

enum { NOPTIONS = sizeof(option_rows) / sizeof(option_rows[0]) };

static const char attach_option[] = "--attach", wrapper_option[] = "--wrapper";

static struct error *set_option(struct options *options, const char *word)
{
	size_t len = strcspn(word, "=");
	const char *argument = word[len] == '=' ? word + len + 1 : NULL;

	for (int i = 0; i < NOPTIONS; i++) {
		const struct option_row *row = &option_rows[i];

		if (strlen(row->name) != len || memcmp(row->name, word, len) != 0)
			continue;
		if (argument && !row->argument)
			return error_create(0, "%s takes no argument", row->name);
		if (row->set)
			return row->set(options, argument);
		*(bool *)((char *)options + row->flag) = row->value;
		return NULL;
	}
	return error_create(0, "Unknown argument: %s", word);
}

static bool take_attach(struct words *words)
{
	if (words->next == words->end || strcmp(*words->next, attach_option) != 0)
		return false;
	words->next++;
	return true;
}

static bool is_wrapper(const struct words *words)
{
	return strcmp(*words->next, wrapper_option) == 0;
}

/* --wrapper WORDS... -- */
static struct error *take_wrapper(struct words *words, char ***wrapper)
{
	char **first = ++words->next;

	while (words->next < words->end && strcmp(*words->next, "--") != 0)
		words->next++;
	if (words->next == words->end)
		return error_create(0, "no -- after the words of --wrapper");
	if (words->next == first)
		return error_create(0, "--wrapper needs a command");
	*words->next++ = NULL;
	*wrapper = first;
	return NULL;
}

static bool is_option(const char *word)
{
	return word[0] == '-' && word[1] != '\0';
}

static struct error *parse_pid(struct words *words, pid_t *pid)
{
	const char *word = words->next < words->end ? *words->next++ : NULL;
	char *end = NULL;
	long value;

	if (!word)
		return error_create(0, "--attach needs the PID of a process");
	value = strtol(word, &end, 0);
	if (word[0] < '0' || word[0] > '9' || *end != '\0' || value <= 0 ||
	    value > INT_MAX)
		return error_create(0, "'%s' is not a PID", word);
	if (words->next < words->end)
		return error_create(0, "too many words after --attach PID: %s",
				    *words->next);
	*pid = (pid_t)value;
	return NULL;
}

struct error *options_parse(struct options *options, int argc, char **argv)
{
	struct words words = {argv + (argc > 0), argv + argc};
	bool attach = false;

	*options = (struct options){
		.disable_randomization = true, .with_shell = true, .escape_args = true};
	while (words.next < words.end && is_option(*words.next)) {
		struct error *error;

		if (take_attach(&words)) {
			attach = true;
			continue;
		}
		if (is_wrapper(&words))
			error = take_wrapper(&words, &options->wrapper);
		else
			error = set_option(options, *words.next++);
		if (error)
			return error;
	}
	if (options->print || options->check != CHECK_NONE)
		return NULL;
	if (words.next == words.end)
		return error_create(0, "no COMM given, the place to listen at");
	options->comm = *words.next++;
	if (take_attach(&words) || attach)
		return parse_pid(&words, &options->attach_pid);
	if (words.next < words.end)
		options->program_argv = words.next;
	else if (!options->multi)
		return error_create(0, "no program to run given (or use --multi)");
	return NULL;
}

void options_print_help(void)
{
	printf("Usage: truehit [OPTIONS] COMM PROG [ARGS...]\n"
	       "       truehit [OPTIONS] COMM --attach PID\n"
	       "       truehit [OPTIONS] --multi COMM\n"
	       "       truehit --check[=json]\n"
	       "Serves a GDB that debugs PROG or the process PID.\n\n"
	       "COMM is one of\n"
	       "  :PORT       that TCP port of this machine's loopback addresses;\n"
	       "              port 0 means any free one, which is printed\n"
	       "  HOST:PORT   that TCP port of the addresses of HOST; [V6]:PORT\n"
	       "  unix:PATH   a unix socket\n"
	       "  DEVICE      a serial line, such as /dev/ttyS0\n"
	       "  stdio, -    standard input and output\n\n"
	       "Options:\n");
	for (int i = 0; i < NOPTIONS; i++) {
		const struct option_row *row = &option_rows[i];
		const char *argument = row->argument ? row->argument : "";

		printf("  %s%-*s  %s\n", row->name, 27 - (int)strlen(row->name),
		       argument, row->help);
	}
	printf("  %-27s  %s\n", "--attach", "attach to the process PID");
	printf("  %-27s  %s\n", "--wrapper WORDS... --",
	       "start programs by this command, which executes its last arguments");
}

void options_print_version(void)
{
	/* Scripts look for a gdbserver, and for the version of its command line. */
	printf("truehit %s, in place of GNU gdbserver (GDB) 13.1\n", PACKAGE_VERSION);
}

void options_print_selftest(void)
{
	printf("Selftests have been disabled for this build.\n");
}
