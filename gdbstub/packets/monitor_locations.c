/* SPDX-License-Identifier: BSD-2-Clause */
/* Monitor commands about breakpoints and what serves them. */
#include "gdbstub/packets/monitor_commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/breakpoints/breakpoints.h"
#include "gdbstub/breakpoints/slots.h"
#include "gdbstub/client/chosen.h"
#include "gdbstub/client/client.h"
#include "gdbstub/client/live_stats.h"
#include "gdbstub/hits/last_hit.h"
#include "gdbstub/locations/ignore.h"
#include "gdbstub/locations/location_name.h"
#include "gdbstub/monitor/breakpoint_table.h"
#include "gdbstub/monitor/engine_json.h"
#include "gdbstub/monitor/explain.h"
#include "gdbstub/monitor/explain_json.h"
#include "gdbstub/monitor/location_json.h"
#include "gdbstub/monitor/stats.h"

static struct error *no_process(void)
{
	return error_create(0, "There is no process, hence no breakpoints.");
}

/* ---- breakpoints ---- */

static struct error *check_list(struct client *client, const char *args, bool *all)
{
	*all = strcmp(args, "all") == 0;
	if (!*all && args[0] != '\0')
		return error_create(0, "breakpoints takes nothing or all, not '%s'.",
				    args);
	return TAILQ_EMPTY(&client->run->inferiors.list) ? no_process() : NULL;
}

struct error *monitor_breakpoints(struct client *client, const char *args,
				  struct buffer *out)
{
	bool all;
	struct error *error = check_list(client, args, &all);

	if (!error)
		breakpoints_print(&client->run->inferiors, all, out);
	return error;
}

struct error *monitor_breakpoints_json(struct client *client, const char *args,
				       struct buffer *out)
{
	bool all;
	struct error *error = check_list(client, args, &all);

	if (!error)
		breakpoints_print_json(&client->run->inferiors, all, out);
	return error;
}

/* ---- explain ---- */

/* Takes the last word off @line, if that names a part; symbols have blanks, too. */
static enum explain_part take_part(char *line)
{
	char *blank = strrchr(line, ' ');
	enum explain_part part = EXPLAIN_PAGE;

	if (blank)
		part = explain_part_named(blank + 1);
	while (part != EXPLAIN_PAGE && blank > line && blank[-1] == ' ')
		blank--;
	if (part != EXPLAIN_PAGE)
		*blank = '\0';
	return part;
}

struct error *monitor_explain(struct client *client, const char *args,
			      struct buffer *out)
{
	struct inferior *inferior = client_inferior(client);
	_cleanup_free_ char *name = strdup(args);
	struct location *location = NULL;
	enum explain_part part;
	struct error *error;

	if (!inferior)
		return no_process();
	if (!name)
		return error_create(ENOMEM, "explain");
	part = take_part(name);
	error = location_named(inferior, name, &location);
	return error ? error : location_explain(location, part, out);
}

struct error *monitor_explain_json(struct client *client, const char *args,
				   struct buffer *out)
{
	struct inferior *inferior = client_inferior(client);
	struct location *location = NULL;
	struct error *error;

	if (!inferior)
		return no_process();
	error = location_named(inferior, args, &location);
	if (!error)
		location_explain_json(location, out);
	return error;
}

/* ---- stats ---- */

static struct error *stats_every(struct client *client, const char *text,
				 struct buffer *out)
{
	char *end;
	const double seconds = strtod(text, &end);

	if (end == text || *end != '\0' || !(seconds >= 0.1 && seconds <= 3600))
		return error_create(0, "expected seconds, 0.1 to 3600, not '%s'.",
				    text);
	if (client->run->non_stop)
		return error_create(0, "in non-stop mode, nothing can be shown unless "
				       "the client asks.");
	live_stats_set(client, (int)(seconds * 1000));
	buffer_printf(out, "While the program runs, the table follows every %g s.\n",
		      seconds);
	return NULL;
}

static struct error *check_stats(struct client *client, const char *args)
{
	if (TAILQ_EMPTY(&client->run->inferiors.list))
		return no_process();
	if (args[0] != '\0')
		return error_create(0, "stats takes nothing, every or off, not '%s'.",
				    args);
	stats_name(&client->run->inferiors);
	return NULL;
}

struct error *monitor_stats(struct client *client, const char *args, struct buffer *out)
{
	static const char every[] = "every ";
	struct error *error;

	if (strncmp(args, every, strlen(every)) == 0) {
		args += strlen(every);
		return stats_every(client, args + strspn(args, " "), out);
	}
	if (strcmp(args, "off") == 0) {
		live_stats_set(client, 0);
		buffer_append_string(out, "The table is shown when it is asked for.\n");
		return NULL;
	}
	error = check_stats(client, args);
	if (!error)
		stats_print(&client->run->inferiors, out);
	return error;
}

struct error *monitor_stats_json(struct client *client, const char *args,
				 struct buffer *out)
{
	struct error *error = check_stats(client, args);

	if (!error)
		stats_print_json(&client->run->inferiors, out);
	return error;
}

/* ---- others ---- */

struct error *monitor_engines_json(struct client *client, const char *args,
				   struct buffer *out)
{
	(void)args;
	engines_print_json(&client->run->engines, &client->run->inferiors, out);
	return NULL;
}

struct error *monitor_engines(struct client *client, const char *args,
			      struct buffer *out)
{
	const struct inferior *inferior;

	(void)args;
	engines_print(&client->run->engines, out);
	TAILQ_FOREACH (inferior, &client->run->inferiors.list, link) {
		if (inferior->breakpoints)
			slots_print(inferior->breakpoints, out);
	}
	return NULL;
}

struct error *monitor_last_hit(struct client *client, const char *args,
			       struct buffer *out)
{
	struct inferior *inferior = client_inferior(client);
	bool all = strcmp(args, "all") == 0;

	if (!inferior)
		return error_create(0, "There is no process, hence no watchpoints.");
	if (!all && args[0] != '\0')
		return error_create(0, "last-hit takes nothing or all, not '%s'.",
				    args);
	return last_hit_print(inferior, all, out);
}

struct error *monitor_ignore(struct client *client, const char *args,
			     struct buffer *out)
{
	struct inferior *inferior = client_inferior(client);

	if (!inferior)
		return no_process();
	return ignore_next(inferior, args, out);
}

struct error *monitor_until_hit(struct client *client, const char *args,
				struct buffer *out)
{
	struct inferior *inferior = client_inferior(client);

	if (!inferior)
		return no_process();
	return ignore_all_but(inferior, args, out);
}

struct error *monitor_count(struct client *client, const char *args, struct buffer *out)
{
	struct inferior *inferior = client_inferior(client);

	if (!inferior)
		return no_process();
	return ignore_all(inferior, args, out);
}

struct error *monitor_reset(struct client *client, const char *args, struct buffer *out)
{
	struct inferior *inferior;

	(void)args;
	if (TAILQ_EMPTY(&client->run->inferiors.list))
		return no_process();
	TAILQ_FOREACH (inferior, &client->run->inferiors.list, link)
		if (inferior->breakpoints)
			breakpoints_reset_counts(inferior->breakpoints);
	buffer_append_string(out, "All counts are zero.\n");
	return NULL;
}

struct error *monitor_variables(struct client *client, const char *args,
				struct buffer *out)
{
	(void)args;
	variables_print(&client->run->engines.variables, out);
	return NULL;
}
