/* SPDX-License-Identifier: BSD-2-Clause */
/* `monitor engines`, for scripts: JSON. truehit(1) has the names. */
#ifndef TRUEHIT_MONITOR_ENGINE_JSON_H
#define TRUEHIT_MONITOR_ENGINE_JSON_H

#include "gdbstub/inferior/inferior.h"
#include "gdbstub/locations/engine.h"

/** A document: the engines, and the slots of all processes. */
void engines_print_json(const struct engines *engines,
			const struct inferiors *inferiors, struct buffer *out);

#endif
