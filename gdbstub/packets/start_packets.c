/* SPDX-License-Identifier: BSD-2-Clause */
/* vRun, and the packets that say how it starts programs: what is said holds for all
 * later starts, of later clients, too. */
#include "gdbstub/tracing/startup.h"

#include <errno.h>
#include <string.h>

#include "gdbstub/base/words.h"
#include "gdbstub/client/client_program.h"
#include "gdbstub/packets/packet.h"
#include "gdbstub/client/report.h"
#include "gdbstub/client/client.h"

static void ok(struct buffer *reply)
{
	buffer_append_string(reply, "OK");
}

/* ---- vRun;PROGRAM[;ARGUMENT]... ---- */

/* A hex string without NUL bytes; NULL: it is none. */
static char *parse_string(struct cursor text)
{
	size_t len;
	char *string _cleanup_free_ = cursor_hex_string(text, &len);

	return string && strlen(string) == len ? take_ptr(string) : NULL;
}

/* One word more than there are ';'. */
static struct error *parse_words(struct cursor *args, char ***words)
{
	do {
		if (!words_take(words, parse_string(cursor_until(args, ';'))))
			return error_create(0, "vRun: word %zu is not hexadecimal",
					    words_count(*words));
	} while (cursor_char(args, ';'));
	return NULL;
}

struct error *packet_vRun(struct client *client, struct cursor *args,
			  struct buffer *reply)
{
	struct startup *startup = client->startup;
	char **words _cleanup_words_ = NULL;
	struct error *error = parse_words(args, &words);
	const char *program;

	if (!error)
		error = client_check_room(client);
	if (error)
		return error;
	program = *words[0] != '\0' ? words[0] : NULL;
	/* gdb, which shows a reason in place of its own text, would have said this. */
	if (!program && !startup->program)
		return error_create(0, "Running the default executable on the remote "
				       "target failed; try \"set remote exec-file\"?");
	if (client->session.single_argument && words_count(words) <= 2)
		error = startup_set_command(startup, program, words[1] ? words[1] : "");
	else
		error = startup_set_program(startup, program, words);
	if (error)
		return error;
	error = client_run(client);
	if (error)
		return error;
	report_last_stop(client, reply);
	return NULL;
}

struct error *packet_qExecAndArgs(struct client *client, struct cursor *args,
				  struct buffer *reply)
{
	const struct startup *startup = client->startup;
	struct buffer arguments _cleanup_buffer_ = {0};

	(void)args;
	if (!startup->program) {
		buffer_append_char(reply, 'U');
		return NULL;
	}
	startup_append_arguments(startup, &arguments);
	if (buffer_failed(&arguments))
		return error_create(ENOMEM, "qExecAndArgs");
	buffer_append_string(reply, "S;");
	buffer_append_hex(reply, startup->program, strlen(startup->program));
	buffer_append_char(reply, ';');
	buffer_append_hex(reply, buffer_string(&arguments), arguments.len);
	buffer_append_char(reply, ';');
	return NULL;
}

/* ---- settings ---- */

/* "0" or "1". */
static struct error *set_switch(struct cursor *args, const char *name, bool *on,
				struct buffer *reply)
{
	uint64_t value;

	if (!cursor_hex(args, &value) || cursor_left(args) > 0 || value > 1)
		return error_create(0, "%s: neither 0 nor 1", name);
	*on = value == 1;
	ok(reply);
	return NULL;
}

struct error *packet_QStartupWithShell(struct client *client, struct cursor *args,
				       struct buffer *reply)
{
	return set_switch(args, "QStartupWithShell", &client->startup->with_shell,
			  reply);
}

struct error *packet_QDisableRandomization(struct client *client, struct cursor *args,
					   struct buffer *reply)
{
	return set_switch(args, "QDisableRandomization",
			  &client->startup->disable_randomization, reply);
}

/* Packets whose argument is a hex string. */
static struct error *set_string(struct client *client, struct cursor *args,
				struct buffer *reply,
				struct error *(*set)(struct startup *, const char *))
{
	_cleanup_free_ char *string = parse_string(*args);
	struct error *error;

	if (!string)
		return error_create(0, "not a string in hex digits");
	error = set(client->startup, string);
	if (!error)
		ok(reply);
	return error;
}

struct error *packet_QEnvironmentHexEncoded(struct client *client, struct cursor *args,
					    struct buffer *reply)
{
	return set_string(client, args, reply, startup_set_variable);
}

struct error *packet_QEnvironmentUnset(struct client *client, struct cursor *args,
				       struct buffer *reply)
{
	return set_string(client, args, reply, startup_unset_variable);
}

struct error *packet_QEnvironmentReset(struct client *client, struct cursor *args,
				       struct buffer *reply)
{
	(void)args;
	startup_reset_environment(client->startup);
	ok(reply);
	return NULL;
}

struct error *packet_QSetWorkingDir(struct client *client, struct cursor *args,
				    struct buffer *reply)
{
	return set_string(client, args, reply, startup_set_directory);
}
