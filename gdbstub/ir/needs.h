/* SPDX-License-Identifier: BSD-2-Clause */
/* A pass of ir_tidy, backward: what is needed of the values in the slots. */
#ifndef TRUEHIT_IR_NEEDS_H
#define TRUEHIT_IR_NEEDS_H

#include "gdbstub/ir/ir.h"

int tidy_needs(struct ir *ir);

#endif
