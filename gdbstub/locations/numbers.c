/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/locations/numbers.h"

#include <stdlib.h>

#include "gdbstub/base/cleanup.h"
#include "gdbstub/inferior/proc.h"
#include "gdbstub/symbols/symbols.h"

/* ---- programs ---- */

/* FNV-1a */
static uint64_t hash(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (; *text != '\0'; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
	return hash;
}

/* Never 0. */
static uint64_t program_of(struct breakpoints *breakpoints)
{
	if (breakpoints->program == 0) {
		_cleanup_free_ char *path = inferior_exe(breakpoints->inferior);

		breakpoints->program =
			1 | (path ? hash(path) : (uint64_t)breakpoints->inferior->pid);
	}
	return breakpoints->program;
}

void numbers_forget_program(struct breakpoints *breakpoints)
{
	breakpoints->program = 0;
}

/* ---- gdb's own ---- */

/* Where the user has one, too, gdb sends what that has: conditions, say. */
static bool may_be_gdbs(const struct location *location)
{
	return location->type == BREAKPOINT_SOFTWARE && location->asked.count == 0 &&
	       location->commands.list.count == 0;
}

/* The symbols are made when they are needed first. */
static bool is_gdbs(struct location *location, struct symbols **symbols)
{
	if (!may_be_gdbs(location))
		return false;
	if (!location->hook_known) {
		if (!*symbols)
			*symbols = symbols_create(location->inferior);
		location->hook = symbols_is_hook(*symbols, location->addr);
		location->hook_known = true;
	}
	return location->hook;
}

bool location_is_gdbs(const struct location *location)
{
	return location->shown_number < 0;
}

/* ---- numbers ---- */

static bool is_of(const struct number_row *row, uint64_t program,
		  const struct location *location)
{
	return row->program == program && row->type == location->type &&
	       row->addr == location->addr &&
	       (row->type <= BREAKPOINT_HARDWARE || row->len == location->len);
}

/* The number that such a location has had; 0: none is known. */
static int find(const struct numbers *numbers, uint64_t program,
		const struct location *location, bool gdbs)
{
	for (size_t i = 0; i < NUMBERS_KEPT && numbers->rows; i++)
		if (is_of(&numbers->rows[i], program, location) &&
		    (numbers->rows[i].number < 0) == gdbs)
			return numbers->rows[i].number;
	return 0;
}

/* Takes the place of the oldest one. Without memory, it is not remembered. */
static void keep(struct numbers *numbers, uint64_t program,
		 const struct location *location, int number)
{
	if (!numbers->rows)
		numbers->rows = calloc(NUMBERS_KEPT, sizeof(*numbers->rows));
	if (!numbers->rows)
		return;
	numbers->rows[numbers->next] = (struct number_row){.program = program,
							   .type = location->type,
							   .addr = location->addr,
							   .len = location->len,
							   .number = number};
	numbers->next = (numbers->next + 1) % NUMBERS_KEPT;
}

static int number_for(struct breakpoints *breakpoints, const struct location *location,
		      bool gdbs)
{
	struct numbers *numbers = &breakpoints->engines->numbers;
	const uint64_t program = program_of(breakpoints);
	int number = find(numbers, program, location, gdbs);

	if (number == 0) {
		number = gdbs ? --numbers->last_of_gdb : ++numbers->last;
		keep(numbers, program, location, number);
	}
	return number;
}

int numbers_of(struct breakpoints *breakpoints, enum breakpoint_type type,
	       uint64_t addr, unsigned int len)
{
	const struct location like = {.type = type, .addr = addr, .len = len};

	return number_for(breakpoints, &like, false);
}

void numbers_give(struct breakpoints *breakpoints)
{
	struct symbols *symbols = NULL;
	struct location *location;

	TAILQ_FOREACH (location, &breakpoints->locations, link) {
		const bool gdbs = is_gdbs(location, &symbols);

		if (location->shown_number == 0 || (location->shown_number < 0) != gdbs)
			location->shown_number =
				number_for(breakpoints, location, gdbs);
	}
	symbols_destroy(symbols);
}
