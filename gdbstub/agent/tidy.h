/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Passes over finished IR. They change no verdict and no effect: what may leave
 * by IR_MAYBE still does, even if nobody needs the value.
 */
#ifndef TRUEHIT_AGENT_TIDY_H
#define TRUEHIT_AGENT_TIDY_H

#include "agent/ir.h"

/**
 * Follows chains of jumps to their end, and removes labels, jumps and code that
 * nothing leads to, so that all of what is left can be reached; then finds out
 * which exits are used. 0, or -ENOMEM.
 */
int ir_tidy(struct ir *ir);

#endif
