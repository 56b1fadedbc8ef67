/* SPDX-License-Identifier: BSD-2-Clause */
/* `monitor accesses` */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/client/chosen.h"
#include "gdbstub/client/client.h"
#include "gdbstub/monitor/access_log.h"
#include "gdbstub/packets/monitor_commands.h"

static bool take_word(const char **at, const char *word)
{
	const size_t len = strlen(word);

	if (strncmp(*at, word, len) != 0 || (*at)[len] != ' ')
		return false;
	*at += len;
	return true;
}

static bool take_number(const char **at, uint64_t *ret)
{
	char *end;

	*at += strspn(*at, " ");
	errno = 0;
	*ret = strtoull(*at, &end, 0);
	if (!isdigit((unsigned char)**at) || errno != 0 ||
	    (*end != '\0' && *end != ' '))
		return false;
	*at = end + strspn(end, " ");
	return true;
}

static struct error *begin(struct client *client, struct inferior *inferior,
			   const struct access_log_options *options, struct buffer *out)
{
	struct error *error;

	client_end_accesses(client);
	run_pause(client->run);
	error = access_log_begin(inferior, options, &client->accesses);
	error = run_unpause(client->run, error);
	if (error)
		return error;
	buffer_printf(out, "%s of %ju byte%s at 0x%jx are counted.\n",
		      options->reads ? "Accesses" : "Writes", (uintmax_t)options->len,
		      options->len == 1 ? "" : "s", (uintmax_t)options->addr);
	return NULL;
}

/* write|access ADDR LEN [CONDITION] */
static struct error *begin_as_said(struct client *client, const char *args,
				   struct buffer *out)
{
	struct inferior *inferior = client_inferior(client);
	struct access_log_options options = {.reads = take_word(&args, "access")};
	_cleanup_free_ char *condition = NULL;
	struct cursor hex;

	if (!inferior)
		return error_create(0, "There is no process.");
	if ((!options.reads && !take_word(&args, "write")) ||
	    !take_number(&args, &options.addr) || !take_number(&args, &options.len))
		return error_create(0, "expected write or access, an address, how many "
				       "bytes, and perhaps the bytecode of a condition "
				       "in hex digits");
	hex = (struct cursor){args, args + strlen(args)};
	if (args[0] != '\0') {
		condition = cursor_hex_string(hex, &options.condition_len);
		if (!condition)
			return error_create(0, "a condition is in hex digits, not '%s'",
					    args);
	}
	options.condition = condition;
	return begin(client, inferior, &options, out);
}

struct error *monitor_accesses(struct client *client, const char *args,
			       struct buffer *out)
{
	const bool off = strcmp(args, "off") == 0;

	if (args[0] != '\0' && !off)
		return begin_as_said(client, args, out);
	if (!client->accesses)
		return error_create(0, "No accesses are counted.");
	access_log_show(client->accesses, out);
	if (off)
		client_end_accesses(client);
	return NULL;
}
