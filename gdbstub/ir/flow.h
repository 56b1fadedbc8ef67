/* SPDX-License-Identifier: BSD-2-Clause */
/* A pass of ir_tidy: follows chains of jumps to their end, and removes what is never
 * reached. */
#ifndef TRUEHIT_IR_FLOW_H
#define TRUEHIT_IR_FLOW_H

#include "gdbstub/ir/ir.h"

int tidy_flow(struct ir *ir);

#endif
