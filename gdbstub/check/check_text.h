/* SPDX-License-Identifier: BSD-2-Clause */
/* What was found out, for people. */
#ifndef TRUEHIT_CHECK_CHECK_TEXT_H
#define TRUEHIT_CHECK_CHECK_TEXT_H

#include "gdbstub/check/findings.h"

void check_print_text(const struct findings *findings, bool colours,
		      struct buffer *out);

#endif
