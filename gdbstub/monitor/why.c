/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/monitor/why.h"

#include <string.h>

#include "gdbstub/breakpoints/choice.h"
#include "gdbstub/breakpoints/slots.h"

struct teller {
	why_fn *tell;
	void *data;
};

static void tell(const struct teller *teller, enum why_kind kind, const char *text)
{
	if (text)
		teller->tell(teller->data, kind, text);
}

static void tell_slots(const struct location *location, const struct teller *teller)
{
	_cleanup_buffer_ struct buffer users = {0}, text = {0};

	slots_print_users(location, &users);
	if (users.len == 0)
		return;
	buffer_printf(&text, "used by %s; disable or delete one",
		      buffer_string(&users));
	tell(teller, WHY_SLOTS, buffer_string(&text));
}

/* One that is preferred for its filter is listed a second time, where it would be
 * without. */
static bool is_listed(const struct engine *engine, const struct engines *engines,
		      const int *choices, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (engine == &engines->engine[choices[i]])
			return true;
	return false;
}

static void tell_unusable(const struct engine *engine, const struct teller *teller)
{
	_cleanup_buffer_ struct buffer text = {0};

	buffer_printf(&text, "%s is not usable: %s", engine->ops->name,
		      error_text(engine->unusable));
	tell(teller, WHY_SERVED, buffer_string(&text));
}

/* Why engines that would be preferred do not serve: the same reason once. */
static void tell_all_unusable(const struct location *location,
			      const struct teller *teller)
{
	const struct engines *engines = location->inferior->breakpoints->engines;
	int choices[NENGINES];
	unsigned int n = choice_list(engines, location, choices);
	const char *said = "";

	for (unsigned int i = 0; i < n; i++) {
		const struct engine *engine = &engines->engine[choices[i]];

		if (engine == location->engine &&
		    !is_listed(engine, engines, choices + i + 1, n - i - 1))
			return;
		if (!engine->unusable || !strcmp(said, error_text(engine->unusable)))
			continue;
		said = error_text(engine->unusable);
		tell_unusable(engine, teller);
	}
}

/* Of one that stops at every hit. */
static const char *why_in_text(const struct location *location)
{
	const char *keeps_out = choice_keeps_out(location);

	if (!keeps_out || location->engine->ops->own_traps)
		return keeps_out;
	if (location->inferior->attached)
		return "the program was attached to: nothing would stay behind in it, "
		       "should truehit be killed";
	return "other uprobes are in the program, and traps of two kinds do not mix";
}

static void tell_choice(const struct location *location, const struct teller *teller)
{
	_cleanup_buffer_ struct buffer text = {0};

	if (location->choice == CHOOSE_AUTO) {
		tell(teller, WHY_SERVED, why_in_text(location));
		return;
	}
	buffer_printf(&text, "monitor set engine %s", choice_name(location->choice));
	tell(teller, WHY_SERVED, buffer_string(&text));
}

void why_each(const struct location *location, why_fn *fn, void *data)
{
	const struct teller teller = {fn, data};

	tell_choice(location, &teller);
	tell_all_unusable(location, &teller);
	tell(&teller, WHY_SERVED, location->why);
	tell(&teller, WHY_NOTE, choice_restarts(location));
	if (location->why && !location_uses_hardware(location))
		tell_slots(location, &teller);
}
