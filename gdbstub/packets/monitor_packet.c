/* SPDX-License-Identifier: BSD-2-Clause */
/* qRcmd: what users type after gdb's `monitor`. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

/* Runs a line. All that the user is to see goes to @out; false: it failed. */
static bool run_line(struct client *client, const char *line, struct buffer *out)
{
	_cleanup_error_ struct error *error = NULL;
	const char *args;
	const struct monitor_command *command = find(line, &args, out);

	if (!command)
		return false;
	if (command->args[0] != '[' &&
	    (args[0] == '\0') != (command->args[0] == '\0')) {
		buffer_append_string(out, "Usage: monitor ");
		monitor_command_append(command, out);
		buffer_append_char(out, '\n');
		return false;
	}
	error = command->handler(client, args, out);
	if (error)
		buffer_printf(out, "%s\n", error_text(error));
	return !error;
}

static void trim(char *line)
{
	size_t len = strlen(line);

	while (len > 0 && strchr(" \t\r\n", line[len - 1]))
		line[--len] = '\0';
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
	size_t len;
	bool ok;

	line = cursor_hex_string(*args, &len);
	if (!line || strlen(line) != len)
		return error_create(0, "qRcmd: expected a command in hex digits");
	trim(line);
	ok = run_line(client, line + strspn(line, " \t"), &out);
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
