/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/breakpoints/until_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/breakpoints/breakpoints.h"
#include "gdbstub/inferior/inferior.h"
#include "gdbstub/locations/ignore.h"
#include "gdbstub/locations/location_name.h"
#include "gdbstub/locations/wanted_state.h"

/* Is the last word `off`? It is cut away. */
static bool cut_word_off(char *text)
{
	char *end = text + strlen(text);

	while (end > text && end[-1] == ' ')
		*--end = '\0';
	if (end - text < 4 || strcmp(end - 4, " off") != 0)
		return false;
	end[-4] = '\0';
	return true;
}

/* Cuts the text before the first word that has a `=`: that word and those that follow;
 * NULL: there is none. */
static char *cut_state(char *text)
{
	char *sign = strchr(text, '='), *word = sign;

	while (word && word > text && word[-1] != ' ')
		word--;
	if (!word || word == text)
		return NULL;
	word[-1] = '\0';
	return word;
}

static struct error *find(struct inferior *inferior, const char *name,
			  struct location **ret)
{
	struct error *error = location_named(inferior, name, ret);

	if (!error && (*ret)->type > BREAKPOINT_HARDWARE)
		return error_create(0, "a watchpoint stops at no state; a breakpoint "
				       "does");
	return error;
}

static struct error *want(struct inferior *inferior, const char *name, const char *text,
			  struct location **location)
{
	struct error *error = find(inferior, name, location);
	struct wanted_state *state = NULL;

	if (!error && text)
		error = wanted_state_create((*location)->inferior->arch, text, &state);
	if (!error)
		error = breakpoints_want_state((*location)->inferior->breakpoints,
					       *location, state);
	if (error)
		return error;
	if (text)
		gate_set_single(ignore_gate(*location), 0);
	else
		gate_set(ignore_gate(*location), 0);
	return NULL;
}

struct error *until_state(struct inferior *inferior, const char *args,
			  struct buffer *out)
{
	_cleanup_free_ char *name = strdup(args);
	struct location *location;
	struct error *error;
	const char *text;

	if (!name)
		return error_create(ENOMEM, "the name of a location");
	text = cut_state(name);
	if (!text && !cut_word_off(name))
		return error_create(0, "expected a location and REGISTER=VALUE..., or "
				       "off");
	error = want(inferior, name, text, &location);
	if (error)
		return error;
	buffer_append_string(out, text ? "Will ignore all hits but the next one of "
				       : "Will stop in all states at ");
	location_name_append(out, location);
	if (text)
		buffer_printf(out, " with %s", text);
	buffer_append_string(out, ".\n");
	return NULL;
}
