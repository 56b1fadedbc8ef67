/* SPDX-License-Identifier: BSD-2-Clause */
/* Why a location that is in place is served as it is. */
#ifndef TRUEHIT_MONITOR_WHY_H
#define TRUEHIT_MONITOR_WHY_H

#include "gdbstub/locations/location.h"

enum why_kind {
	WHY_SERVED, /* ... by this engine */
	WHY_NOTE,   /* what that means for the program */
	WHY_SLOTS,  /* who has what it would like to have */
};

typedef void why_fn(void *data, enum why_kind kind, const char *text);

/** Tells all reasons. */
void why_each(const struct location *location, why_fn *tell, void *data);

#endif
