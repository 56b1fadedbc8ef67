/* SPDX-License-Identifier: BSD-2-Clause */
/* `monitor explain`, for scripts: JSON. truehit(1) has the names. */
#ifndef TRUEHIT_MONITOR_EXPLAIN_JSON_H
#define TRUEHIT_MONITOR_EXPLAIN_JSON_H

#include "gdbstub/locations/location.h"

/** A document: an object with what location_write() tells, and more. */
void location_explain_json(struct location *location, struct buffer *out);

#endif
