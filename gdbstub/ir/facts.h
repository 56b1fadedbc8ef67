/* SPDX-License-Identifier: BSD-2-Clause */
/* A pass of ir_tidy, forward: what is known of the values in the slots. */
#ifndef TRUEHIT_IR_FACTS_H
#define TRUEHIT_IR_FACTS_H

#include "gdbstub/ir/ir.h"

void tidy_facts(struct ir *ir, const struct ir_target *target);

#endif
