/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jMultiBreakpoint:{"breakpoint_requests":[REQUEST,...]}: several Z and z packets of
 * lldb's in one, which come to what they come to one by one: like these, they are not
 * counted, so that one z takes away what any number of Z have asked for.
 *
 * Source of the facts: lldb's docs/resources/lldbgdbremote.md, jMultiBreakpoint; that
 * lldb does not rely on counts: llvm-project's pull requests 195815 and 196891.
 */
#include <errno.h>
#include <string.h>

#include "gdbstub/base/cleanup.h"
#include "gdbstub/base/log.h"
#include "gdbstub/packets/packet.h"
#include "gdbstub/rsp/json.h"

/* As the packet of its own would be. */
static struct error *handle_one(struct client *client, const char *request,
				struct buffer *reply)
{
	struct cursor args = {request, request + strlen(request)};
	struct error *error;

	if (cursor_char(&args, 'Z'))
		error = packet_Z(client, &args, reply);
	else if (cursor_char(&args, 'z'))
		error = packet_z(client, &args, reply);
	else
		error = error_create(EINVAL, "jMultiBreakpoint: neither Z nor z: %s",
				     request);
	if (!error && reply->len == 0)
		error = error_create(EOPNOTSUPP, "jMultiBreakpoint: no such type: %s",
				     request);
	return error;
}

/* Numbers only: what fails, lldb asks for once more alone, and hears the text then. */
static void append_result(struct client *client, const char *request,
			  struct buffer *results)
{
	struct buffer reply _cleanup_buffer_ = {0};
	struct error *error _cleanup_error_ = handle_one(client, request, &reply);

	if (results->len > 0)
		buffer_append_char(results, ',');
	if (error) {
		log_debug(LOG_RSP, "%s: %s", request, error_text(error));
		buffer_printf(results, "\"E%02x\"", packet_error_number(error));
	} else {
		buffer_append_json(results, buffer_string(&reply));
	}
}

/* ---- the array is read twice: nothing is done of a packet that is malformed ---- */

static struct error *parse_requests(struct client *client, struct cursor args,
				    struct buffer *results)
{
	unsigned int count = 0;

	do {
		_cleanup_free_ char *request = json_string(&args);

		if (!request)
			return error_create(EINVAL,
					    "jMultiBreakpoint: request %u is no string",
					    count + 1);
		count++;
		if (results)
			append_result(client, request, results);
	} while (json_char(&args, ','));
	if (!json_char(&args, ']') || !json_char(&args, '}') || !json_ends(&args))
		return error_create(EINVAL, "jMultiBreakpoint: no ]} after request %u",
				    count);
	return NULL;
}

/* Up to the first request. *none: there is none. */
static struct error *parse_head(struct cursor *args, bool *none)
{
	_cleanup_free_ char *key = NULL;

	if (json_char(args, '{'))
		key = json_string(args);
	if (!key || strcmp(key, "breakpoint_requests") != 0 || !json_char(args, ':') ||
	    !json_char(args, '['))
		return error_create(EINVAL, "jMultiBreakpoint: not an object with an "
					    "array \"breakpoint_requests\"");
	*none = json_char(args, ']');
	if (*none && (!json_char(args, '}') || !json_ends(args)))
		return error_create(EINVAL, "jMultiBreakpoint: no } after the array");
	return NULL;
}

struct error *packet_jMultiBreakpoint(struct client *client, struct cursor *args,
				      struct buffer *reply)
{
	struct buffer results _cleanup_buffer_ = {0};
	bool none;
	struct error *error = parse_head(args, &none);

	if (!error && !none)
		error = parse_requests(client, *args, NULL);
	if (!error && !none)
		error = parse_requests(client, *args, &results);
	if (error)
		return error;
	if (buffer_failed(&results))
		return error_create(ENOMEM, "jMultiBreakpoint: no reply");
	buffer_printf(reply, "{\"results\":[%s]}", buffer_string(&results));
	return NULL;
}
