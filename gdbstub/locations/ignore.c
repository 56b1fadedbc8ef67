/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/locations/ignore.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/base/cleanup.h"
#include "gdbstub/locations/location.h"
#include "gdbstub/locations/location_name.h"

/* NULL: it is the location's own. */
static struct gate *gate_of_engine(const struct location *location)
{
	if (location->state == LOCATION_OUT || !location->engine->ops->gate)
		return NULL;
	return location->engine->ops->gate(location->engine, location);
}

struct gate *ignore_gate(struct location *location)
{
	struct gate *gate = gate_of_engine(location);

	return gate ? gate : &location->gate;
}

int64_t ignore_left(const struct location *location)
{
	const struct gate *gate = gate_of_engine(location);

	return gate_left(gate ? gate : &location->gate);
}

void ignore_describe(struct location *location, struct buffer *out)
{
	const struct gate *gate = ignore_gate(location);
	int64_t left = gate_left(gate);

	if (left == GATE_ENDLESS)
		buffer_append_string(out, "only counts its hits");
	else if (gate->single)
		buffer_printf(out, "ignores all but hit %" PRId64, left + 1);
	else if (left > 0)
		buffer_printf(out, "ignores its next %" PRId64 " hits", left);
}

/* NULL: there is but one. */
static char *last_word(char *text)
{
	char *end = text + strlen(text), *word;

	while (end > text && isblank((unsigned char)end[-1]))
		*--end = '\0';
	word = end;
	while (word > text && !isblank((unsigned char)word[-1]))
		word--;
	return word == text ? NULL : word;
}

/* What is before it, without the blanks between. */
static void cut_off(char *text, char *word)
{
	while (word > text && isblank((unsigned char)word[-1]))
		*--word = '\0';
}

static bool parse_count(const char *text, int64_t *count)
{
	char *end;

	errno = 0;
	*count = strtoll(text, &end, 10);
	return isdigit((unsigned char)text[0]) && *end == '\0' && errno == 0 &&
	       *count <= GATE_MAX;
}

/* "2 100": @what the number is, from @least to GATE_MAX. */
static struct error *parse(struct inferior *inferior, const char *args,
			   const char *what, int least, struct location **location,
			   int64_t *count)
{
	_cleanup_free_ char *text = strdup(args);
	char *number = text ? last_word(text) : NULL;

	if (!text)
		return error_create(ENOMEM, "the name of a location");
	if (!number || !parse_count(number, count) || *count < least)
		return error_create(0, "expected a location and %s (%d to %d)", what,
				    least, GATE_MAX);
	cut_off(text, number);
	return location_named(inferior, text, location);
}

struct error *ignore_next(struct inferior *inferior, const char *args,
			  struct buffer *out)
{
	struct location *location;
	int64_t count;
	struct error *error = parse(inferior, args, "how many of its hits to ignore", 0,
				    &location, &count);

	if (error)
		return error;
	gate_set(ignore_gate(location), count);
	if (count > 0)
		buffer_printf(out, "Will ignore next %" PRId64 " hits of ", count);
	else
		buffer_append_string(out, "Will ignore no hits of ");
	location_name_append(out, location);
	buffer_append_string(out, ".\n");
	return NULL;
}

struct error *ignore_all_but(struct inferior *inferior, const char *args,
			     struct buffer *out)
{
	struct location *location;
	int64_t number;
	struct error *error = parse(inferior, args, "which of its hits to stop at", 1,
				    &location, &number);

	if (error)
		return error;
	gate_set_single(ignore_gate(location), number - 1);
	buffer_printf(out, "Will ignore all but hit %" PRId64 " of ", number);
	location_name_append(out, location);
	buffer_append_string(out, ".\n");
	return NULL;
}

struct error *ignore_all(struct inferior *inferior, const char *args,
			 struct buffer *out)
{
	_cleanup_free_ char *text = strdup(args);
	char *word = text ? last_word(text) : NULL;
	bool on = !word || strcmp(word, "off") != 0;
	struct location *location;
	struct error *error;

	if (!text)
		return error_create(ENOMEM, "count");
	if (word && (!on || strcmp(word, "on") == 0))
		cut_off(text, word);
	error = location_named(inferior, text, &location);
	if (error)
		return error;
	gate_set(ignore_gate(location), on ? GATE_ENDLESS : 0);
	buffer_append_string(out,
			     on ? "Will only count hits of " : "Will stop at hits of ");
	location_name_append(out, location);
	buffer_append_string(out, ".\n");
	return NULL;
}
