/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/base/json_writer.h"

#include <inttypes.h>

static void begin_value(struct json *json, const char *name)
{
	buffer_append_string(json->out, json->first ? "" : ", ");
	json->first = false;
	if (!name)
		return;
	buffer_append_json(json->out, name);
	buffer_append_string(json->out, ": ");
}

void json_open(struct json *json, const char *name, char bracket)
{
	begin_value(json, name);
	buffer_append_char(json->out, bracket);
	json->first = true;
}

void json_close(struct json *json, char bracket)
{
	buffer_append_char(json->out, bracket);
	json->first = false;
}

void json_null(struct json *json, const char *name)
{
	begin_value(json, name);
	buffer_append_string(json->out, "null");
}

void json_text(struct json *json, const char *name, const char *text)
{
	if (!text) {
		json_null(json, name);
		return;
	}
	begin_value(json, name);
	buffer_append_json(json->out, text);
}

void json_bool(struct json *json, const char *name, bool value)
{
	begin_value(json, name);
	buffer_append_string(json->out, value ? "true" : "false");
}

void json_number(struct json *json, const char *name, int64_t number)
{
	begin_value(json, name);
	buffer_printf(json->out, "%" PRId64, number);
}

void json_count(struct json *json, const char *name, uint64_t number)
{
	begin_value(json, name);
	buffer_printf(json->out, "%" PRIu64, number);
}

/* printf's %f is the locale's. */
void json_tenths(struct json *json, const char *name, double number)
{
	const int64_t tenths = (int64_t)(number * 10 + 0.5);

	if (number < 0) {
		json_null(json, name);
		return;
	}
	begin_value(json, name);
	buffer_printf(json->out, "%" PRId64 ".%" PRId64, tenths / 10, tenths % 10);
}

void json_error(struct json *json, const char *name, const struct error *error)
{
	json_text(json, name, error ? error_text(error) : NULL);
}
