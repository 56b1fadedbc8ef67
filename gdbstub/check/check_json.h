/* SPDX-License-Identifier: BSD-2-Clause */
/* What was found out, for scripts: one JSON object. truehit(1) has its names, to which
 * some may be added, and of which none is taken away. */
#ifndef TRUEHIT_CHECK_CHECK_JSON_H
#define TRUEHIT_CHECK_CHECK_JSON_H

#include "gdbstub/check/findings.h"

void check_print_json(const struct findings *findings, int exit_status,
		      struct buffer *out);

#endif
