/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/client/console.h"

#include <string.h>

#include "gdbstub/base/log.h"
#include "gdbstub/rsp/connection.h"
#include "gdbstub/client/client.h"

enum {
	PIECE = 4096,		/* text in one packet, where it takes twice the room */
	UNSENT_MAX = 32 * 1024, /* as a stop reply cannot overtake what was sent */
};

static size_t left(const struct console *console)
{
	return console->text.len - console->shown;
}

/* Can text be shown, now or later? */
static bool has_reader(const struct client *client)
{
	return client->connection && !client->run->non_stop;
}

/* ---- what is printed ---- */

static void print_kept(struct client *client)
{
	struct console *console = &client->console;
	const struct output *own = &client->run->own_output;

	if (left(console) > 0)
		own->print(own->data, console->text.data + console->shown,
			   left(console));
	buffer_deinit(&console->text);
	console->shown = 0;
}

static void print(void *data, const char *text, size_t len)
{
	struct client *client = data;
	struct console *console = &client->console;
	const struct output *own = &client->run->own_output;

	if (has_reader(client)) {
		buffer_append(&console->text, text, len);
		if (!buffer_failed(&console->text))
			return;
		log_warning("no memory for the client's console");
	}
	print_kept(client); /* in order */
	own->print(own->data, text, len);
}

static bool ready(void *data)
{
	return !console_is_full(data);
}

struct output console_output(struct client *client)
{
	return (struct output){.print = print, .ready = ready, .data = client};
}

bool console_is_full(const struct client *client)
{
	const struct console *console = &client->console;

	return left(console) >= CONSOLE_LIMIT && !console->hurried;
}

/* ---- what is shown ---- */

void console_show(struct client *client, const char *text, size_t len)
{
	while (len > 0 && client->connection) {
		struct buffer packet _cleanup_buffer_ = {0};
		size_t piece = len < PIECE ? len : PIECE;

		buffer_append_char(&packet, 'O');
		buffer_append_hex(&packet, text, piece);
		if (!buffer_failed(&packet))
			connection_send(client->connection, packet.data, packet.len);
		text += piece;
		len -= piece;
	}
}

static void show_kept(struct client *client, size_t len)
{
	struct console *console = &client->console;

	console_show(client, console->text.data + console->shown, len);
	console->shown += len;
	if (left(console) == 0) {
		buffer_deinit(&console->text);
		console->shown = 0;
	} else if (console->shown > left(console)) {
		buffer_consume(&console->text, console->shown);
		console->shown = 0;
	}
}

void console_send(struct client *client)
{
	const struct console *console = &client->console;

	/* Until the stop comes, a fast client would take all that is printed. */
	if (!has_reader(client) || !client->session.resumed || console->hurried)
		return;
	while (left(console) > 0 && connection_unsent(client->connection) < UNSENT_MAX)
		show_kept(client, left(console) < PIECE ? left(console) : PIECE);
}

/* How much of a long text to show: whole lines, if there are any. */
static size_t cut(const char *text)
{
	const char *newline = memrchr(text, '\n', CONSOLE_CUT);

	return newline ? (size_t)(newline + 1 - text) : CONSOLE_CUT;
}

/* Of a lot of text, and says how much more there is. */
static void show_beginning(struct client *client)
{
	const struct console *console = &client->console;
	struct buffer notice _cleanup_buffer_ = {0};
	const char *text = console->text.data + console->shown;
	size_t len = cut(text);

	buffer_printf(&notice,
		      "%s[truehit: %zu bytes of output follow when the program goes "
		      "on]\n",
		      text[len - 1] == '\n' ? "" : "\n", left(console) - len);
	show_kept(client, len);
	console_show(client, buffer_string(&notice), notice.len);
}

bool console_settle(struct client *client)
{
	struct console *console = &client->console;

	console_send(client);
	if (left(console) > 0 && !console->hurried)
		return false;
	if (left(console) > CONSOLE_CUT)
		show_beginning(client);
	else if (left(console) > 0)
		show_kept(client, left(console));
	console->hurried = false;
	return true;
}

void console_hurry(struct client *client)
{
	client->console.hurried = true;
}

void console_close(struct client *client)
{
	print_kept(client);
	client->console.hurried = false;
}
