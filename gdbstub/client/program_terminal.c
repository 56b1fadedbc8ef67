/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/client/program_terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gdbstub/client/client.h"
#include "gdbstub/client/console.h"

enum {
	PIECE = 4096,
	PIECES_AT_ONCE = 16, /* more than a terminal keeps for its reader */
};

/* The server holds the program's side, too: else the terminal would hang up whenever no
 * program has it open, and poll(2) tell of that all the time. */
struct program_terminal {
	int master, slave;
	char path[PATH_MAX];
};

static void destroy(struct program_terminal *terminal)
{
	if (!terminal)
		return;
	cleanup_close(&terminal->master);
	cleanup_close(&terminal->slave);
	free(terminal);
}

static int make(struct program_terminal *terminal)
{
	terminal->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (terminal->master < 0 || grantpt(terminal->master) < 0 ||
	    unlockpt(terminal->master) < 0 ||
	    fcntl(terminal->master, F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	if (ptsname_r(terminal->master, terminal->path, sizeof(terminal->path)) != 0)
		return -ENOTTY;
	terminal->slave = open(terminal->path, O_RDWR | O_NOCTTY | O_CLOEXEC);
	return terminal->slave < 0 ? -errno : 0;
}

struct error *program_terminal_open(struct client *client, const char **path)
{
	struct program_terminal *terminal = malloc(sizeof(*terminal));
	int err;

	program_terminal_close(client);
	if (!terminal)
		return error_create(ENOMEM, "a terminal for the program");
	terminal->master = terminal->slave = -1;
	err = make(terminal);
	if (err < 0) {
		destroy(terminal);
		return error_create(-err, "a terminal for the program");
	}
	client->terminal = terminal;
	*path = terminal->path;
	return NULL;
}

void program_terminal_close(struct client *client)
{
	program_terminal_read(client);
	destroy(client->terminal);
	client->terminal = NULL;
}

int program_terminal_fd(const struct client *client)
{
	return client->terminal && !console_is_full(client) ? client->terminal->master
							    : -1;
}

void program_terminal_read(struct client *client)
{
	const struct output output = console_output(client);
	char text[PIECE];

	if (!client->terminal)
		return;
	for (int i = 0; i < PIECES_AT_ONCE; i++) {
		ssize_t n = read(client->terminal->master, text, sizeof(text));

		if (n <= 0)
			return;
		output.print(output.data, text, (size_t)n);
	}
}

struct error *program_terminal_write(struct client *client, const void *text,
				     size_t len)
{
	ssize_t n;

	if (!client->terminal)
		return error_create(0, "the program has no terminal of the client's");
	n = write(client->terminal->master, text, len);
	if (n == (ssize_t)len)
		return NULL;
	return error_create(n < 0 ? errno : EAGAIN,
			    "the program has not read its input: %zu bytes are lost",
			    len - (n < 0 ? 0 : (size_t)n));
}
