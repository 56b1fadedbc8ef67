/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/locations/ignore.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/base/cleanup.h"
#include "gdbstub/symbols/symbols.h"
#include "gdbstub/locations/location.h"
#include "gdbstub/locations/location_name.h"

struct gate *ignore_gate(struct location *location)
{
	if (location->state != LOCATION_OUT && location->engine->ops->gate)
		return location->engine->ops->gate(location->engine, location);
	return &location->gate;
}

void ignore_describe(struct location *location, struct buffer *out)
{
	int64_t left = gate_left(ignore_gate(location));

	if (left == GATE_ENDLESS)
		buffer_append_string(out, "only counts its hits");
	else if (left > 0)
		buffer_printf(out, "ignores its next %" PRId64 " hits", left);
}

/* "hbreak 2 at main+0x5f" */
static void append_name(struct buffer *out, const struct location *location)
{
	_cleanup_buffer_ struct buffer symbol = {0};
	struct symbols *symbols = symbols_create(location->inferior);

	symbols_print(symbols, location->addr, &symbol);
	symbols_destroy(symbols);
	buffer_printf(out, "%s %u at ", breakpoint_type_name(location->type),
		      location->number);
	if (symbol.len > 0)
		buffer_append_string(out, buffer_string(&symbol));
	else
		buffer_printf(out, "0x%" PRIx64, location->addr);
}

/* Cuts the last word off @text and returns it; NULL: there is but one. */
static char *cut_last_word(char *text)
{
	char *end = text + strlen(text), *word;

	while (end > text && isblank((unsigned char)end[-1]))
		*--end = '\0';
	word = end;
	while (word > text && !isblank((unsigned char)word[-1]))
		word--;
	if (word == text)
		return NULL;
	word[-1] = '\0';
	return word;
}

static bool parse_count(const char *text, int64_t *count)
{
	char *end;

	errno = 0;
	*count = strtoll(text, &end, 10);
	return isdigit((unsigned char)text[0]) && *end == '\0' && errno == 0 &&
	       *count <= GATE_MAX;
}

struct error *ignore_next(struct inferior *inferior, const char *args,
			  struct buffer *out)
{
	_cleanup_free_ char *text = strdup(args);
	const char *number = text ? cut_last_word(text) : NULL;
	struct location *location;
	struct error *error;
	int64_t count;

	if (!text)
		return error_create(ENOMEM, "ignore");
	if (!number || !parse_count(number, &count))
		return error_create(0,
				    "expected a location and how many of its hits "
				    "to ignore (0 to %d)",
				    GATE_MAX);
	error = location_named(inferior, text, &location);
	if (error)
		return error;
	gate_set(ignore_gate(location), count);
	if (count > 0)
		buffer_printf(out, "Will ignore next %" PRId64 " hits of ", count);
	else
		buffer_append_string(out, "Will ignore no hits of ");
	append_name(out, location);
	buffer_append_string(out, ".\n");
	return NULL;
}

struct error *ignore_all(struct inferior *inferior, const char *args,
			 struct buffer *out)
{
	_cleanup_free_ char *text = strdup(args);
	const char *word = text ? cut_last_word(text) : NULL;
	bool on = !word || strcmp(word, "on") == 0;
	struct location *location;
	struct error *error;

	if (!text)
		return error_create(ENOMEM, "count");
	if (!on && strcmp(word, "off") != 0)
		return error_create(0, "expected on or off, not '%s'", word);
	error = location_named(inferior, text, &location);
	if (error)
		return error;
	gate_set(ignore_gate(location), on ? GATE_ENDLESS : 0);
	buffer_append_string(out,
			     on ? "Will only count hits of " : "Will stop at hits of ");
	append_name(out, location);
	buffer_append_string(out, ".\n");
	return NULL;
}
