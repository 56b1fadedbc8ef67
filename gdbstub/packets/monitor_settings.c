/* SPDX-License-Identifier: BSD-2-Clause */
/* Monitor commands that begin with `set`, but for debugging output. */
#include "gdbstub/packets/monitor_commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/breakpoints/choice.h"
#include "gdbstub/client/client.h"
#include "gdbstub/symbols/threaddb.h"

struct error *monitor_set_variable(struct client *client, const char *args,
				   struct buffer *out)
{
	char *end, *last;
	unsigned long number = strtoul(args, &end, 0);
	long long value = strtoll(end, &last, 0);
	struct error *error;

	if (end == args || last == end || *last != '\0' || number > UINT16_MAX)
		return error_create(0, "set variable takes two numbers, not '%s'.",
				    args);
	error = variables_set(&client->run->engines.variables, (unsigned int)number,
			      value);
	if (!error)
		buffer_printf(out, "Trace state variable %lu is %lld.\n", number,
			      value);
	return error;
}

struct error *monitor_set_watch_kernel(struct client *client, const char *args,
				       struct buffer *out)
{
	bool on = strcmp(args, "on") == 0;

	if (!on && strcmp(args, "off") != 0)
		return error_create(0, "set watch-kernel takes on or off, not '%s'.",
				    args);
	engines_set_watch_kernel(&client->run->engines, on);
	buffer_printf(out, "Writes by system calls are %s of watchpoints.\n",
		      on ? "hits" : "no hits");
	return NULL;
}

struct error *monitor_set_watch_filter(struct client *client, const char *args,
				       struct buffer *out)
{
	bool off = strcmp(args, "off") == 0;

	if (!off && strcmp(args, "on") != 0)
		return error_create(0, "set watch-filter takes on or off, not '%s'.",
				    args);
	client->run->engines.unfiltered = off;
	buffer_printf(out, "Writes that change nothing are %s.\n",
		      off ? "hits" : "no hits");
	return NULL;
}

struct error *monitor_set_pads(struct client *client, const char *args,
			       struct buffer *out)
{
	static const struct {
		const char *name, *told;
	} choices[] = {
		[PADS_OFF] = {"off", "the text itself"},
		[PADS_AUTO] = {"auto", "pads where they are hit often"},
		[PADS_ALWAYS] = {"always", "pads"},
	};

	for (size_t i = 0; i < sizeof(choices) / sizeof(*choices); i++) {
		if (strcmp(args, choices[i].name) != 0)
			continue;
		client->run->engines.pads = (enum pads_choice)i;
		buffer_printf(out, "Traps of breakpoints are put into %s.\n",
			      choices[i].told);
		return NULL;
	}
	return error_create(0, "set pads takes auto, always or off, not '%s'.", args);
}

struct error *monitor_set_engine(struct client *client, const char *args,
				 struct buffer *out)
{
	if (choice_parse(args, &client->run->engines.choice) < 0)
		return error_create(
			0,
			"set engine takes auto, uprobe, hardware or ptrace, "
			"not '%s'.",
			args);
	buffer_printf(out, "Breakpoints are served by %s from the next resume on.\n",
		      strcmp(args, "auto") == 0 ? "the cheapest engine" : args);
	return NULL;
}

struct error *monitor_set_threaddb_path(struct client *client, const char *args,
					struct buffer *out)
{
	struct inferiors *inferiors = &client->run->inferiors;
	int r = threaddb_set_path(inferiors, args);

	if (r == -EPERM)
		return error_create(0, "libthread-db-search-path: a truehit with file "
				       "capabilities loads no library but the system's "
				       "(" THREADDB_DEFAULT_PATH ")");
	if (r < 0)
		return error_create(ENOMEM, "libthread-db-search-path");
	buffer_printf(out, "libthread-db-search-path set to `%s'\n",
		      threaddb_path(inferiors));
	return NULL;
}
