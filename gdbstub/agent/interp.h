/* SPDX-License-Identifier: BSD-2-Clause */
/* The reference interpreter of expressions. */
#ifndef TRUEHIT_AGENT_INTERP_H
#define TRUEHIT_AGENT_INTERP_H

#include <stdint.h>

#include "gdbstub/agent/expr.h"

/**
 * The reference interpreter. Runs the expression; *result is the top of the
 * stack (0 if it is empty, in a command). An error (unreadable memory, no such
 * register, division by zero, more than the step limit of 1,000,000 operations) is for
 * the caller to count as a hit, as gdbserver does.
 */
struct error *agent_expr_evaluate(const struct agent_expr *expr,
				  const struct agent_context *context,
				  uint64_t *result);

#endif
