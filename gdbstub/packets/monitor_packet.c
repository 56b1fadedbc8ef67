/* SPDX-License-Identifier: BSD-2-Clause */
/* qRcmd: what users type after gdb's `monitor`. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/base/json_writer.h"
#include "gdbstub/client/client.h"
#include "gdbstub/client/console.h"
#include "gdbstub/packets/monitor_commands.h"
#include "gdbstub/packets/packet.h"
#include "gdbstub/rsp/frame.h"

struct error *monitor_exit(struct client *client, const char *args, struct buffer *out)
{
	(void)args;
	(void)out;
	client->session.exit_server = true;
	client->session.ending = true;
	return NULL;
}

/* Without the one command that is meant: why. */
static const struct monitor_command *find(const char *line, const char **args,
					  struct buffer *out)
{
	_cleanup_buffer_ struct buffer names = {0};
	unsigned int count;
	const struct monitor_command *found =
		monitor_command_find(line, args, &count, &names);

	if (!found && count == 0) {
		buffer_append_string(out, "Unknown monitor command.\n\n");
		monitor_help(NULL, "", out);
	} else if (!found) {
		buffer_printf(out, "Ambiguous monitor command '%s': %s.\n", line,
			      buffer_string(&names));
	}
	return found;
}

static void append_usage(const struct monitor_command *command, struct buffer *out)
{
	buffer_append_string(out, "Usage: monitor ");
	monitor_command_append(command, out);
	buffer_append_char(out, '\n');
}

static bool takes(const struct monitor_command *command, const char *args)
{
	return command->args[0] == '[' ||
	       (args[0] == '\0') == (command->args[0] == '\0');
}

/* Runs a line, for scripts if they want that. All that the user is to see goes to @out;
 * false: it failed. */
static bool run_line(struct client *client, const char *line, bool as_json,
		     struct buffer *out)
{
	_cleanup_error_ struct error *error = NULL;
	const char *args;
	const struct monitor_command *command = find(line, &args, out);

	if (!command)
		return false;
	if (!takes(command, args) || (as_json && !command->json)) {
		append_usage(command, out);
		return false;
	}
	error = (as_json ? command->json : command->handler)(client, args, out);
	if (error)
		buffer_printf(out, "%s\n", error_text(error));
	return !error;
}

/* A failure is one document, too. */
static void make_json_of_failure(struct buffer *out)
{
	_cleanup_buffer_ struct buffer text = {0};
	struct json json = {out, true};
	size_t len = out->len;

	while (len > 0 && out->data[len - 1] == '\n')
		len--;
	buffer_append(&text, out->data, len);
	buffer_reset(out);
	json_open(&json, NULL, '{');
	json_text(&json, "error", buffer_string(&text));
	json_close(&json, '}');
	buffer_append_char(out, '\n');
}

static void trim(char *line)
{
	size_t len = strlen(line);

	while (len > 0 && strchr(" \t\r\n", line[len - 1]))
		line[--len] = '\0';
}

/* Takes the word off the line's end, or out of it. */
static bool take_json(char *line)
{
	static const char word[] = "--json";
	const size_t len = strlen(word);
	char *at = strstr(line, word);
	bool found = at && at > line && isblank((unsigned char)at[-1]) &&
		     (at[len] == '\0' || isblank((unsigned char)at[len]));

	if (found)
		memmove(at, at + len, strlen(at + len) + 1);
	trim(line);
	return found;
}

/*
 * A user reads the reason of a failure in the output, with every version of gdb,
 * so the reply is "E01" (gdb: "Protocol error with Rcmd"), as gdbserver's.
 */
struct error *packet_qRcmd(struct client *client, struct cursor *args,
			   struct buffer *reply)
{
	_cleanup_buffer_ struct buffer out = {0};
	_cleanup_free_ char *line = NULL;
	bool ok, as_json;
	size_t len;

	line = cursor_hex_string(*args, &len);
	if (!line || strlen(line) != len)
		return error_create(0, "qRcmd: expected a command in hex digits");
	as_json = take_json(line);
	ok = run_line(client, line + strspn(line, " \t"), as_json, &out);
	if (!ok && as_json)
		make_json_of_failure(&out);
	if (buffer_failed(&out))
		return error_create(ENOMEM, "monitor %s", line);
	if (ok && out.len > 0 && 2 * out.len <= RSP_PACKET_SIZE) {
		buffer_append_hex(reply, out.data, out.len);
	} else {
		console_show(client, buffer_string(&out), out.len);
		buffer_append_string(reply, ok ? "OK" : "E01");
	}
	return NULL;
}
