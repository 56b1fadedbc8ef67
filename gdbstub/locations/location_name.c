/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/locations/location_name.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

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
	uint64_t value; /* number, address or offset */
	char *symbol;	/* owned */
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
	if (parse_number(text, 10, &place->value)) {
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
		return location->number == place->value;
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

/* Counts the locations that match; @numbers lists them, *first is one. */
static unsigned int find_all(const struct place *place, struct inferior *inferior,
			     struct location **first, struct buffer *numbers)
{
	struct symbols *symbols = place->symbol ? symbols_create(inferior) : NULL;
	struct location *location;
	unsigned int count = 0;

	TAILQ_FOREACH (location, &inferior->breakpoints->locations, link) {
		if (!matches(place, symbols, location))
			continue;
		if (count++ == 0)
			*first = location;
		buffer_printf(numbers, "%s%u", count > 1 ? ", " : "", location->number);
	}
	symbols_destroy(symbols);
	return count;
}

struct error *location_named(struct inferior *inferior, const char *text,
			     struct location **ret)
{
	_cleanup_(place_deinit) struct place place = {0};
	_cleanup_buffer_ struct buffer numbers = {0};
	struct error *error = parse(text, &place);
	unsigned int count = 0;

	if (error)
		return error;
	if (!inferior->breakpoints || TAILQ_EMPTY(&inferior->breakpoints->locations))
		return error_create(0, "there are no breakpoints or watchpoints");
	if (place.kind == PLACE_SYMBOL) {
		const struct place start = {PLACE_IN_SYMBOL, 0, place.symbol};

		count = find_all(&start, inferior, ret, &numbers);
	}
	if (count == 0)
		count = find_all(&place, inferior, ret, &numbers);
	if (count == 0)
		return error_create(
			0,
			"no location %s; see monitor breakpoints (gdb puts a "
			"new one in when it resumes the program, or at "
			"once after 'set breakpoint always-inserted on')",
			text);
	if (count > 1)
		return error_create(
			0, "%u locations are at %s: %s; name one by its number", count,
			text, buffer_string(&numbers));
	return NULL;
}

void location_name_append(struct buffer *out, const struct location *location)
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
