/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The front half of compilation: from an agent expression to the IR, with constants
 * folded, comparisons fused with the jumps that use them, chains of jumps followed to
 * their end, and nothing in it that cannot be reached; then the passes (tidy.h).
 */
#ifndef TRUEHIT_IR_LOWER_H
#define TRUEHIT_IR_LOWER_H

#include "gdbstub/agent/expr.h"
#include "gdbstub/base/error.h"
#include "gdbstub/ir/ir.h"

/**
 * Makes the code. An expression that cannot be compiled, as it needs more slots,
 * is a jump to IR_MAYBE. Errors: too long, or out of memory. The caller frees the
 * result by ir_deinit.
 */
struct error *ir_lower(const struct agent_expr *expr, const struct ir_target *target,
		       struct ir *ret);

#endif
