/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Monitor commands about debugging output, in the forms and with the answers of all
 * gdbservers: what gdb's test suite looks for has changed with gdb 15. Source of the
 * facts: gdb.server/server-mon.exp of gdb 13.1 and 16.3.
 */
#include "gdbstub/packets/monitor_commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/base/log.h"
#include "gdbstub/client/client.h"

/* ---- set debug ---- */

/* "0", "1", "on" or "off". */
static bool parse_switch(const char *word, bool *on)
{
	*on = strcmp(word, "on") == 0 || strcmp(word, "1") == 0;
	return *on || strcmp(word, "off") == 0 || strcmp(word, "0") == 0;
}

/* As gdbserver does, with the list of all commands after it. */
static struct error *refuse(const char *reason)
{
	_cleanup_buffer_ struct buffer text = {0};

	buffer_printf(&text, "%s\n", reason);
	monitor_help(NULL, "", &text);
	if (text.len > 0)
		text.data[text.len - 1] = '\0'; /* the newline */
	return error_create(0, "%s", buffer_string(&text));
}

static struct error *refuse_junk(const char *junk, const char *before)
{
	_cleanup_buffer_ struct buffer text = {0};

	buffer_printf(&text, "Junk '%s' found at end of 'set debug %s' command.", junk,
		      before);
	return refuse(buffer_string(&text));
}

static struct error *switch_all(struct client *client, bool on, struct buffer *out)
{
	struct error *error = on ? log_enable("all") : log_disable("all");

	if (error)
		return error;
	if (client->session.thread_options)
		buffer_append_string(out, on ? "General debug output enabled.\n"
					     : "All debug output disabled.\n");
	else
		buffer_printf(out, "Debug output %s.\n", on ? "enabled" : "disabled");
	return NULL;
}

/* "remote on": the part is one, or what is in its place. */
static struct error *switch_part(const char *part, const char *value,
				 struct buffer *out)
{
	_cleanup_buffer_ struct buffer text = {0};
	struct error *error;
	bool on;

	if (!parse_switch(value, &on)) {
		buffer_printf(&text, "Invalid value '%s' for 'set debug %s'.", value,
			      part);
		return refuse(buffer_string(&text));
	}
	error = on ? log_enable(part) : log_disable(part);
	if (!error)
		buffer_printf(out, "Debug output for '%s' %s.\n", part,
			      on ? "enabled" : "disabled");
	return error;
}

/* "rsp,stops": gdbserver would want a value. */
static struct error *enable_list(const char *list, struct buffer *out)
{
	_cleanup_error_ struct error *error = log_enable(list);
	_cleanup_buffer_ struct buffer text = {0};

	if (!error) {
		buffer_append_string(out, "Debug output enabled.\n");
		return NULL;
	}
	buffer_printf(&text, "%s\nMissing value for 'set debug %s' command.",
		      error_text(error), list);
	return refuse(buffer_string(&text));
}

/* Cuts the first word off, and returns the rest. */
static char *cut_word(char *line)
{
	char *end = line + strcspn(line, " \t"), *rest = end + strspn(end, " \t");

	*end = '\0';
	return rest;
}

struct error *monitor_set_debug(struct client *client, const char *args,
				struct buffer *out)
{
	_cleanup_free_ char *first = strdup(args);
	_cleanup_buffer_ struct buffer both = {0};
	char *second, *third;
	bool on;

	if (!first)
		return error_create(ENOMEM, "set debug");
	second = cut_word(first);
	if (parse_switch(first, &on))
		return *second == '\0' ? switch_all(client, on, out)
				       : refuse_junk(second, first);
	if (*second == '\0')
		return enable_list(first, out);
	third = cut_word(second);
	if (*third == '\0')
		return switch_part(first, second, out);
	buffer_printf(&both, "%s %s", first, second);
	return refuse_junk(third, buffer_string(&both));
}

/* ---- what earlier gdbservers have commands of their own for ---- */

static struct error *switch_category(const char *command, const char *category,
				     const char *what, const char *args,
				     struct buffer *out)
{
	struct error *error;
	bool on;

	if (!parse_switch(args, &on))
		return error_create(0, "%s takes 0, 1, off or on, not '%s'.", command,
				    args);
	error = on ? log_enable(category) : log_disable(category);
	if (!error)
		buffer_printf(out, "%s output %s.\n", what,
			      on ? "enabled" : "disabled");
	return error;
}

struct error *monitor_set_remote_debug(struct client *client, const char *args,
				       struct buffer *out)
{
	(void)client;
	return switch_category("set remote-debug", "remote", "Protocol debug", args,
			       out);
}

struct error *monitor_set_event_loop_debug(struct client *client, const char *args,
					   struct buffer *out)
{
	(void)client;
	return switch_category("set event-loop-debug", "event-loop", "Event loop debug",
			       args, out);
}

struct error *monitor_set_debug_hw_points(struct client *client, const char *args,
					  struct buffer *out)
{
	(void)client;
	return switch_category("set debug-hw-points", "stops", "H/W point debugging",
			       args, out);
}

/* ---- how and where ---- */

static const char *answer_to(const char *part, size_t len)
{
	if (len == strlen("all") && memcmp(part, "all", len) == 0)
		return "All extra debug format options enabled.\n";
	if (len == strlen("none") && memcmp(part, "none", len) == 0)
		return "All extra debug format options disabled.\n";
	return len > 0 ? "Timestamps will be added to debug output.\n" : "";
}

struct error *monitor_set_debug_format(struct client *client, const char *args,
				       struct buffer *out)
{
	struct error *error = log_format(args);

	(void)client;
	while (!error && *args != '\0') {
		const size_t len = strcspn(args, ",");

		buffer_append_string(out, answer_to(args, len));
		args += len;
		args += *args == ',';
	}
	return error;
}

struct error *monitor_set_debug_file(struct client *client, const char *args,
				     struct buffer *out)
{
	struct error *error = log_open_file(args);

	(void)client;
	if (!error)
		buffer_printf(out, "Debug output goes to %s.\n",
			      *args != '\0' ? args : "stderr");
	return error;
}
