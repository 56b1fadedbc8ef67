/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/control/retired_event.h"

#include <string.h>

static const char *const names[RETIRED_EVENTS] = {
	[RETIRED_INSTRUCTIONS] = "instructions",
	[RETIRED_BRANCHES] = "branches",
	[RETIRED_CONDITIONAL] = "conditional-branches",
	[RETIRED_TAKEN] = "taken-branches",
};

const char *retired_event_name(enum retired_event event)
{
	return names[event];
}

bool retired_event_find(const char *name, enum retired_event *ret)
{
	for (unsigned int i = 0; i < RETIRED_EVENTS; i++)
		if (strcmp(names[i], name) == 0) {
			*ret = (enum retired_event)i;
			return true;
		}
	return false;
}
