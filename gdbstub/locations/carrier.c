/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/locations/carrier.h"

struct share *share_of(const struct location *location)
{
	if (location->state == LOCATION_OUT || !location->engine->ops->shares)
		return NULL;
	return location->engine_data;
}

const struct location *share_carrier(const struct location *location)
{
	const struct share *share = share_of(location);

	return share ? &share->carrier : NULL;
}

bool share_leads(const struct location *location)
{
	const struct share *share = share_of(location);

	return share && share->member[0] == location;
}

void share_print_others(const struct location *location, struct buffer *out)
{
	const struct share *share = share_of(location);
	const char *separator = "";

	for (unsigned int i = 0; share && i < share->count; i++) {
		if (share->member[i] == location)
			continue;
		buffer_printf(out, "%s%u", separator, share->member[i]->number);
		separator = ", ";
	}
}
