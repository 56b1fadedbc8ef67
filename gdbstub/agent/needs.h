/* SPDX-License-Identifier: BSD-2-Clause */
/* A pass of ir_tidy, backward: what is needed of the values in the slots. */
#ifndef TRUEHIT_AGENT_NEEDS_H
#define TRUEHIT_AGENT_NEEDS_H

#include "agent/ir.h"

int tidy_needs(struct ir *ir);

#endif
