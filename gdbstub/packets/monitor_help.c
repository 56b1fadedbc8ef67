/* SPDX-License-Identifier: BSD-2-Clause */
/* `monitor help`: the list of commands, and what one of them does. */
#include "gdbstub/packets/monitor_commands.h"

#include <string.h>

#include "gdbstub/base/json_writer.h"

enum { WIDTH = 78 }; /* of a line */

static void append_row(const struct monitor_command *command, struct buffer *out)
{
	buffer_append_string(out, "  ");
	monitor_command_append(command, out);
	buffer_printf(out, "\n    %s\n", command->help);
}

/* GDB's own test suite looks for the first line. */
static void append_list(struct buffer *out)
{
	unsigned int count;
	const struct monitor_command *commands = monitor_commands(&count);

	buffer_append_string(out, "The following monitor commands are supported:\n");
	for (unsigned int i = 0; i < count; i++)
		append_row(&commands[i], out);
}

/* Breaks lines between words. */
static void append_wrapped(const char *text, struct buffer *out)
{
	size_t column = 0;

	while (*text != '\0') {
		const size_t len = strcspn(text, " \n");

		if (column > 0 && column + len > WIDTH) {
			buffer_append_char(out, '\n');
			column = 0;
		}
		if (column > 0)
			buffer_append_char(out, ' ');
		buffer_append(out, text, len);
		column += len + 1;
		text += len;
		if (*text == '\n') {
			buffer_append_char(out, '\n');
			column = 0;
		}
		text += *text != '\0';
	}
	buffer_append_char(out, '\n');
}

static void append_details(const struct monitor_command *command, struct buffer *out)
{
	buffer_append_string(out, "Usage: monitor ");
	monitor_command_append(command, out);
	buffer_printf(out, "\n%s.\n", command->help);
	if (!command->details)
		return;
	buffer_append_char(out, '\n');
	append_wrapped(command->details, out);
}

/* Of several that begin so, all; but the one of that very name alone. */
static struct error *append_named(const char *name, struct buffer *out)
{
	unsigned int count, matches = 0;
	const struct monitor_command *commands = monitor_commands(&count),
				     *found = NULL;
	_cleanup_buffer_ struct buffer rows = {0};

	for (unsigned int i = 0; i < count; i++) {
		bool exact;

		if (!monitor_command_begins(&commands[i], name, &exact))
			continue;
		found = &commands[i];
		append_row(found, &rows);
		matches = exact ? 1 : matches + 1;
		if (exact)
			break;
	}
	if (matches == 0)
		return error_create(
			0, "Unknown monitor command '%s'; see monitor help.", name);
	if (matches == 1)
		append_details(found, out);
	else
		buffer_append(out, rows.data, rows.len);
	return NULL;
}

struct error *monitor_help(struct client *client, const char *args, struct buffer *out)
{
	(void)client;
	if (args[0] != '\0')
		return append_named(args, out);
	append_list(out);
	return NULL;
}

/* ---- for scripts ---- */

static void write_command(struct json *json, const struct monitor_command *command)
{
	json_open(json, NULL, '{');
	json_text(json, "name", command->name);
	json_text(json, "arguments", command->args);
	json_text(json, "help", command->help);
	json_text(json, "details", command->details);
	json_bool(json, "json", command->json);
	json_close(json, '}');
}

struct error *monitor_help_json(struct client *client, const char *args,
				struct buffer *out)
{
	unsigned int count;
	const struct monitor_command *commands = monitor_commands(&count);
	struct json json = {out, true};

	(void)client;
	json_open(&json, NULL, '{');
	json_open(&json, "commands", '[');
	for (unsigned int i = 0; i < count; i++) {
		bool exact;

		if (monitor_command_begins(&commands[i], args, &exact))
			write_command(&json, &commands[i]);
	}
	json_close(&json, ']');
	json_close(&json, '}');
	buffer_append_char(out, '\n');
	return NULL;
}
