/* SPDX-License-Identifier: BSD-2-Clause */
/* What the hits of a location cost: by a trial at the start, and by the clock. */
#ifndef TRUEHIT_MONITOR_COST_H
#define TRUEHIT_MONITOR_COST_H

#include "gdbstub/locations/location.h"

enum { COST_HITS_MIN = 1000 }; /* fewer tell nothing */

struct cost {
	unsigned int trial_ns; /* a false one, as it is served now; 0: not known */
	double most_ns; /* a hit, with what the program does between; 0: not known */
	bool by_processors;	 /* ... by the time of these, as hits stop nobody; else
				  * by the time that the program has run */
	struct count_mark since; /* since the counts were zero */
};

void cost_find(const struct location *location, struct cost *ret);
/** Appends lines of `monitor explain`. */
void cost_tell(const struct location *location, struct buffer *out);

#endif
