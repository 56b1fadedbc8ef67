/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/locations/location_name.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "gdbstub/locations/numbers.h"
#include "gdbstub/symbols/symbols.h"

/* What a text can mean. */
enum place_kind {
	PLACE_NUMBER,
	PLACE_ADDRESS,
	PLACE_IN_SYMBOL, /* at this offset */
	PLACE_SYMBOL,	 /* at its start, or else anywhere in it */
};

struct place {
	enum place_kind kind;
	uint64_t value; /* address or offset */
	int number;
	char *symbol; /* owned */
};

static void place_deinit(struct place *place)
{
	free(place->symbol);
}

/* The whole text is a number; @base as strtoull's. */
static bool parse_number(const char *text, int base, uint64_t *value)
{
	char *end;

	if (!isxdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	*value = strtoull(text, &end, base);
	return errno == 0 && *end == '\0';
}

/* As it is shown: those of gdb's own are below 0. */
static bool parse_shown(const char *text, int *number)
{
	const bool negative = text[0] == '-';
	uint64_t value;

	if (!parse_number(text + negative, 10, &value) || value > INT_MAX)
		return false;
	*number = negative ? -(int)value : (int)value;
	return true;
}

/* FILE:LINE, but not a::b. */
static bool is_line(const char *text)
{
	const char *colon = strrchr(text, ':');
	uint64_t line;

	return colon && parse_number(colon + 1, 10, &line);
}

static struct error *parse_symbol(const char *text, struct place *place)
{
	const char *plus = strrchr(text, '+');

	place->kind = PLACE_SYMBOL;
	if (plus && parse_number(plus + 1, 0, &place->value))
		place->kind = PLACE_IN_SYMBOL;
	place->symbol = place->kind == PLACE_IN_SYMBOL
				? strndup(text, (size_t)(plus - text))
				: strdup(text);
	return place->symbol ? NULL : error_create(ENOMEM, "%s", text);
}

static struct error *parse(const char *text, struct place *place)
{
	const char *address = text[0] == '*' ? text + 1 : text;

	if (strncmp(address, "0x", 2) == 0 &&
	    parse_number(address, 16, &place->value)) {
		place->kind = PLACE_ADDRESS;
		return NULL;
	}
	if (text[0] == '*')
		return error_create(0, "'%s' is no address such as *0x401136", text);
	if (parse_shown(text, &place->number)) {
		place->kind = PLACE_NUMBER;
		return NULL;
	}
	if (is_line(text))
		return error_create(0,
				    "only gdb knows where %s is; name the location by "
				    "its number, see monitor breakpoints",
				    text);
	return parse_symbol(text, place);
}

static bool matches(const struct place *place, struct symbols *symbols,
		    const struct location *location)
{
	uint64_t offset;

	switch (place->kind) {
	case PLACE_NUMBER:
		return location->shown_number == place->number;
	case PLACE_ADDRESS:
		return location->addr == place->value;
	case PLACE_IN_SYMBOL:
		return symbols_covers(symbols, place->symbol, location->addr,
				      &offset) &&
		       offset == place->value;
	case PLACE_SYMBOL:
		return symbols_covers(symbols, place->symbol, location->addr, &offset);
	}
	return false;
}

/* Locations that match. */
struct found {
	struct location *first;
	unsigned int count;
	bool several; /* processes have one */
	struct buffer names;
};

static void found_deinit(struct found *found)
{
	buffer_deinit(&found->names);
}

static void note(struct found *found, struct location *location)
{
	if (found->count++ == 0)
		found->first = location;
	else
		buffer_append_string(&found->names, ", ");
	if (found->first->inferior != location->inferior)
		found->several = true;
	buffer_printf(&found->names, "%d", location->shown_number);
}

static void find_in(const struct place *place, struct inferior *inferior,
		    struct found *found)
{
	struct symbols *symbols = place->symbol ? symbols_create(inferior) : NULL;
	struct location *location;

	TAILQ_FOREACH (location, &inferior->breakpoints->locations, link) {
		if (matches(place, symbols, location))
			note(found, location);
	}
	symbols_destroy(symbols);
}

/* In the current process, or else in all others. */
static void find_all(const struct place *place, struct inferior *inferior,
		     struct found *found)
{
	struct inferior *other;

	if (inferior->breakpoints)
		find_in(place, inferior, found);
	if (found->count > 0)
		return;
	TAILQ_FOREACH (other, &inferior->owner->list, link) {
		if (other != inferior && other->breakpoints)
			find_in(place, other, found);
	}
}

/* Are there any? They have numbers then. */
static bool number_all(const struct inferiors *inferiors)
{
	const struct inferior *inferior;
	bool any = false;

	TAILQ_FOREACH (inferior, &inferiors->list, link) {
		if (!inferior->breakpoints)
			continue;
		numbers_give(inferior->breakpoints);
		any |= !TAILQ_EMPTY(&inferior->breakpoints->locations);
	}
	return any;
}

static struct error *not_one(const struct found *found, const char *text)
{
	if (found->count == 0)
		return error_create(
			0,
			"no location %s; see monitor breakpoints (gdb puts a "
			"new one in when it resumes the program, or at "
			"once after 'set breakpoint always-inserted on')",
			text);
	if (found->several)
		return error_create(0,
				    "several processes have a location %s; select "
				    "one of them (gdb's command inferior)",
				    text);
	return error_create(0, "%u locations are at %s: %s; name one by its number",
			    found->count, text, buffer_string(&found->names));
}

struct error *location_named(struct inferior *inferior, const char *text,
			     struct location **ret)
{
	_cleanup_(place_deinit) struct place place = {0};
	_cleanup_(found_deinit) struct found found = {0};
	struct error *error = parse(text, &place);

	if (error)
		return error;
	if (!number_all(inferior->owner))
		return error_create(0, "there are no breakpoints or watchpoints");
	if (place.kind == PLACE_SYMBOL) {
		const struct place start = {.kind = PLACE_IN_SYMBOL,
					    .symbol = place.symbol};

		find_all(&start, inferior, &found);
	}
	if (found.count == 0)
		find_all(&place, inferior, &found);
	if (found.count != 1)
		return not_one(&found, text);
	*ret = found.first;
	return NULL;
}

void location_name_append(struct buffer *out, const struct location *location)
{
	_cleanup_buffer_ struct buffer symbol = {0};
	struct symbols *symbols = symbols_create(location->inferior);

	symbols_print(symbols, location->addr, &symbol);
	symbols_destroy(symbols);
	buffer_printf(out, "%s %d at ", breakpoint_type_name(location->type),
		      location->shown_number);
	if (symbol.len > 0)
		buffer_append_string(out, buffer_string(&symbol));
	else
		buffer_printf(out, "0x%" PRIx64, location->addr);
}
