/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/locations/hit_costs.h"

void hit_costs_append(unsigned int ns, struct buffer *out)
{
	buffer_printf(out, "%.1f us", ns / 1000.0);
}
