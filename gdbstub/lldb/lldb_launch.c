/* SPDX-License-Identifier: BSD-2-Clause */
/* A qLaunchSuccess QSetSTDIN QSetSTDOUT QSetSTDERR QSetDisableASLR QEnvironment I: how
 * lldb starts programs (lldb 14 and newer by vRun, if there is that), and what it types
 * for them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gdbstub/base/words.h"
#include "gdbstub/tracing/startup.h"
#include "gdbstub/client/client.h"
#include "gdbstub/client/client_program.h"
#include "gdbstub/client/program_terminal.h"
#include "gdbstub/lldb/lldb_packets.h"

enum { WORDS_MAX = 65536 };

static void ok(struct buffer *reply)
{
	buffer_append_string(reply, "OK");
}

/* A hex string without NUL bytes; NULL: it is none. */
static char *parse_string(struct cursor text)
{
	size_t len;
	char *string _cleanup_free_ = cursor_hex_string(text, &len);

	return string && strlen(string) == len ? take_ptr(string) : NULL;
}

/* ---- A LENGTH,NUMBER,WORD[,LENGTH,NUMBER,WORD...]: the first numbers are decimal
 * ---- */

static struct error *parse_word(struct cursor *args, uint64_t wanted, char ***words)
{
	uint64_t len, number;
	struct cursor text;

	if (!cursor_decimal(args, &len) || !cursor_char(args, ',') ||
	    !cursor_decimal(args, &number) || !cursor_char(args, ',') ||
	    number != wanted)
		return error_create(EINVAL, "A: word %llu has no length and number",
				    (unsigned long long)wanted);
	if (len > cursor_left(args))
		return error_create(EINVAL, "A: word %llu is shorter than it says",
				    (unsigned long long)wanted);
	text = (struct cursor){args->p, args->p + len};
	args->p += len;
	if (!words_take(words, parse_string(text)))
		return error_create(EINVAL, "A: word %llu is not hexadecimal",
				    (unsigned long long)wanted);
	return NULL;
}

static struct error *launch(struct client *client, struct cursor *args)
{
	char **words _cleanup_words_ = NULL;
	struct error *error = client_check_room(client);
	uint64_t number = 0;

	do {
		if (number == WORDS_MAX)
			return error_create(E2BIG, "A: more than %d words", WORDS_MAX);
		if (!error)
			error = parse_word(args, number++, &words);
	} while (!error && cursor_char(args, ','));
	if (!error && cursor_left(args) > 0)
		error = error_create(EINVAL, "A: no ',' after word %llu",
				     (unsigned long long)number - 1);
	if (!error)
		error = startup_set_program(client->startup, words[0], words);
	return error ? error : client_run(client);
}

struct error *packet_A(struct client *client, struct cursor *args, struct buffer *reply)
{
	struct error *error = launch(client, args);

	free(client->session.launch_failure);
	client->session.launch_failure = error ? strdup(error_text(error)) : NULL;
	if (!error)
		ok(reply);
	return error;
}

/* "E" and a text. */
struct error *packet_qLaunchSuccess(struct client *client, struct cursor *args,
				    struct buffer *reply)
{
	(void)args;
	if (client->session.launch_failure)
		buffer_printf(reply, "E%s", client->session.launch_failure);
	else
		ok(reply);
	return NULL;
}

/* ---- settings ---- */

/* lldb asks the first of the threads, without a stop in between. */
static struct error *set_stream(struct client *client, struct cursor *args, int stream,
				struct buffer *reply)
{
	char *path = parse_string(*args);

	if (!path || *path == '\0') {
		free(path);
		return error_create(EINVAL, "not a path in hex digits");
	}
	free(client->session.stdio[stream]);
	client->session.stdio[stream] = path;
	ok(reply);
	return NULL;
}

struct error *packet_QSetSTDIN(struct client *client, struct cursor *args,
			       struct buffer *reply)
{
	return set_stream(client, args, STDIN_FILENO, reply);
}

struct error *packet_QSetSTDOUT(struct client *client, struct cursor *args,
				struct buffer *reply)
{
	return set_stream(client, args, STDOUT_FILENO, reply);
}

struct error *packet_QSetSTDERR(struct client *client, struct cursor *args,
				struct buffer *reply)
{
	return set_stream(client, args, STDERR_FILENO, reply);
}

struct error *packet_QSetDisableASLR(struct client *client, struct cursor *args,
				     struct buffer *reply)
{
	struct error *error = cursor_switch(args, "QSetDisableASLR",
					    &client->startup->disable_randomization);

	if (!error)
		ok(reply);
	return error;
}

/* As it is, without hex digits. */
struct error *packet_QEnvironment(struct client *client, struct cursor *args,
				  struct buffer *reply)
{
	_cleanup_free_ char *text = strndup(args->p, cursor_left(args));
	struct error *error = text ? startup_set_variable(client->startup, text)
				   : error_create(ENOMEM, "QEnvironment");

	if (!error)
		ok(reply);
	return error;
}

/* ---- I HEX ---- */

struct error *packet_I(struct client *client, struct cursor *args, struct buffer *reply)
{
	size_t len;
	_cleanup_free_ char *text = cursor_hex_string(*args, &len);
	struct error *error;

	if (!text)
		return error_create(EINVAL, "I: not a text in hex digits");
	error = program_terminal_write(client, text, len);
	if (!error)
		ok(reply);
	return error;
}
