/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/locations/hit_costs.h"

enum { LEAST_IN_US = 100 }; /* ns */

void hit_costs_append(unsigned int ns, struct buffer *out)
{
	if (ns == 0)
		buffer_append_string(out, "an unknown time");
	else if (ns < LEAST_IN_US)
		buffer_printf(out, "%u ns", ns);
	else
		buffer_printf(out, "%.1f us", ns / 1000.0);
}
